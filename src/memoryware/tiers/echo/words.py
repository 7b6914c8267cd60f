"""Words that a repetition may add, omit or replace, and words that it may not; data only."""

from __future__ import annotations

from typing import Final

from memoryware.tiers.text import phrases
from memoryware.tiers.text.comparison import IRREGULAR
from memoryware.tiers.text.tokens import MODALS, NEGATIONS, QUANTIFIERS, word_set

POSSESSIVES: Final = word_set("""
my your his her its our their
mein meine meiner meinem meinen dein deine deiner deinem deinen sein seine seiner seinem seinen
ihr ihre ihrer ihrem ihren unser unsere unserer unserem unseren
""")
DOUBTING: Final = word_set("right correct true really sure richtig wirklich sicher oder")
"""Words that turn the sentence before them into a question."""
RESTRICTING: Final = NEGATIONS | word_set("""
if unless except excluding only until but whereas provided instead rather anymore longer
wenn falls nur außer bis aber sofern sondern statt mehr
如 若 除 只 仅 但 才 直
""")
"""Words that restrict a statement; a repetition may not leave them out."""
UNCERTAIN: Final = word_set("""
probably possibly perhaps maybe might likely unlikely apparently allegedly supposedly unclear guess
vielleicht wahrscheinlich möglicherweise vermutlich angeblich wohl
也 许 能 概
""")
ORDERING: Final = word_set("""
then first last next before after later earlier again once twice second finally up down over under
off on left right more less best better free open all each every both most
""")
"""Words of `FILLER` that carry meaning inside of a statement."""
LEADING: Final = (
    phrases.RECALLING
    | phrases.GREETINGS
    | word_set("""
say says said saying confirm confirmed confirms repeat repeating tell telling told think believe
state stated sum summing summarize summarise quote quoting answer found find see question help
helps understand correct right follows following clarify point points remark discussed asked
sage sagt gesagt erinnere erinnern notizen weiß denke glaube
""")
)
"""A phrase around a repetition must have one of these."""
BETWEEN: Final = word_set(
    "and but also so well indeed additionally und sowie auch 和 而 且 还 also and"
)
POINTING: Final = BETWEEN | word_set("it is are that this these here as das ist hier dies")
"""Words that may introduce a repetition without a word of remembering: "It is so: ..."."""
AROUND: Final = (
    phrases.EMPTY
    | phrases.FILLER
    | phrases.PERSONAL
    | phrases.GREETINGS
    | phrases.RECALLING
    | LEADING
    | BETWEEN
    | word_set("""
unclear stored entries entry memory any anything anyone nothing need like want would more some
good morning afternoon evening elaborate on points question questions you me i can may could dass
mein meine meinen meinem ihr ihre dir ihnen noch das ist hier
""")
)
OPEN: Final = word_set("""
be is are was were of by in on at for from to with a an and or must may can should will has have do
does not per über von mit für auf an bei zu ist sind wird und oder muss darf kann soll nicht
是 在 的 和 把 被 由
""")
"""Words after which a part of a sentence is incomplete."""
DROPPED: Final = word_set("called named also genannt namens indeed too auch")
"""Words that a repetition may omit or add."""
KEPT: Final = word_set("kept stored held located hosted saved gespeichert")
LIVES: Final = word_set("live lives reside resides sit sits liegt liegen steht stehen befindet")
WHERE: Final = word_set("in on at auf an bei")
PASSIVE: Final = ("be", "ist", "wird")
SUBSTITUTES: Final = (
    AROUND
    | OPEN
    | DROPPED
    | KEPT
    | LIVES
    | MODALS
    | NEGATIONS
    | QUANTIFIERS
    | RESTRICTING
    | IRREGULAR
    | {"email", "before"}
)
"""Words that can match words with another beginning, or none."""
OPTIONAL: Final = SUBSTITUTES | POINTING | {"then", "dann", "so", "就", "所", "以", "那", "么"}
"""Words that need not match a word of a stored text."""
COUNTED: Final = word_set(
    "things facts notes points items memories results entries thing fact note"
)
