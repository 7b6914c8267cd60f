"""Which scripts a text is written in, as far as models know them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MOST: Final = 4096
"""Characters of a text that are counted."""

# Contents of character classes of regular expressions.
_LATIN: Final = (
    r"A-Za-z\xaa\xba\xc0-\xd6\xd8-\xf6\xf8-\u02af\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a"
)
_CYRILLIC: Final = r"\u0400-\u052f\u1c80-\u1c8f"
_ARABIC: Final = (
    r"\u0620-\u064a\u066e-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06ff\ufb50-\ufdff\ufe70-\ufefc"
)
_THAI: Final = r"\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"
_HANGUL: Final = r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
_HAN_AND_KANA: Final = (
    r"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)


@dataclass(frozen=True, slots=True)
class Scripts:
    """The scripts that a model knows.

    Attributes:
        letters: Matches the letters of these scripts.
    """

    letters: re.Pattern[str]

    def cover(self, text: str) -> bool:
        """Whether at least two thirds of the letters of a text are of these scripts.

        Args:
            text: Any text; of a long one its first 4,096 characters count. One without letters
                is covered.

        Returns:
            Whether it is covered.
        """
        if text.isascii():
            return True
        start = text[:_MOST]
        total = sum(map(str.isalpha, start))
        return 3 * len(self.letters.findall(start)) >= 2 * total


LATIN: Final = Scripts(re.compile(f"[{_LATIN}]"))
MANY: Final = Scripts(re.compile(f"[{_LATIN}{_CYRILLIC}{_ARABIC}{_THAI}{_HANGUL}{_HAN_AND_KANA}]"))
