"""Irregular forms of English words, which no rule for endings finds."""

from __future__ import annotations

import re
from typing import Final

_ENGLISH: Final = """
ate eat|eaten eat|beaten beat|became become|began begin|begun begin|bent bend|bit bite|bitten bite
bled bleed|blew blow|blown blow|bought buy|bred breed|broke break|broken break|brought bring
built build|burnt burn|came come|caught catch|chose choose|chosen choose|crept creep|dealt deal
dreamt dream|drank drink|drunk drink|drew draw|drawn draw|drove drive|driven drive|dug dig
fed feed|fell fall|fallen fall|felt feel|fled flee|flew fly|flown fly|flung fling|forbade forbid
forbidden forbid|forgave forgive|forgiven forgive|forgot forget|forgotten forget|fought fight
found find|froze freeze|frozen freeze|gave give|given give|got get|gotten get|grew grow|grown grow
heard hear|held hold|hid hide|hidden hide|hung hang|kept keep|knelt kneel|knew know|known know
laid lay|leant lean|leapt leap|learnt learn|led lead|left leave|lent lend|lit light|lost lose
made make|meant mean|met meet|mistook mistake|overcame overcome|overslept oversleep|paid pay
ran run|rang ring|rebuilt rebuild|ridden ride|risen rise|rode ride|said say|sang sing|sung sing
sank sink|sunk sink|sat sit|saw see|seen see|sent send|sewn sew|shaken shake|shone shine|shook shake
shot shoot|shown show|shrank shrink|shrunk shrink|slept sleep|slid slide|sold sell|sought seek
sped speed|spelt spell|spent spend|spilt spill|spoke speak|spoken speak|sprang spring|sprung spring
spun spin|stole steal|stolen steal|stood stand|stuck stick|stung sting|struck strike|swam swim
swum swim|swept sweep|swollen swell|swore swear|sworn swear|swung swing|taken take|taught teach
thought think|threw throw|thrown throw|told tell|took take|tore tear|torn tear|undertook undertake
understood understand|went go|gone go|wept weep|withdrew withdraw|withdrawn withdraw|woke wake
woken wake|won win|wore wear|worn wear|wove weave|woven weave|wrote write|written write
died die|dies die|dying die|lied lie|lies lie|lying lie|tied tie|ties tie|tying tie
children child|men man|women woman|people person|mice mouse|feet foot|teeth tooth|geese goose
calves calf|halves half|knives knife|loaves loaf|scarves scarf|shelves shelf|thieves thief
wives wife|wolves wolf|oxen ox|analyses analysis|appendices appendix|crises crisis
criteria criterion|diagnoses diagnosis|hypotheses hypothesis|indices index|matrices matrix
phenomena phenomenon|vertices vertex
"""
ENGLISH_FORMS: Final = dict(pair.split() for pair in re.split(r"[|\n]", _ENGLISH) if pair)
"""Past tenses, participles and plurals, and the base form of each."""
