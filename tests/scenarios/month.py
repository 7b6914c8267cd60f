"""A month of a group: what its agents said all day, what a person promoted, and questions.

Everything is made here, from a seed: the same seed gives the same month.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

Kind = Literal["own words", "rare word", "german", "chinese"]


@dataclass(frozen=True)
class Fact:
    """A promoted fact, and a question that it answers.

    Attributes:
        text: What is promoted.
        question: What is asked at the end of the month.
        kind: "own words": the question uses words of the fact. "rare word": it has other words,
            and shares one rare word with the fact.
    """

    text: str
    question: str
    kind: Kind


def _facts(kind: Kind, lines: str) -> list[Fact]:
    pairs = (line.split("|") for line in lines.strip().splitlines())
    return [Fact(text.strip(), question.strip(), kind) for text, question in pairs]


FACTS = [
    *_facts(
        "own words",
        """
The orders of the shop are kept in PostgreSQL 17 on the server db2. | Where are the orders of the shop kept?
Carl is allergic to peanuts. | What is Carl allergic to?
We deploy on Tuesdays and never on a Friday. | On which days do we deploy?
Invoices of the suppliers go to accounts@shop.example. | Where do the invoices of the suppliers go to?
The nightly backup goes to the bucket cold-7 and is kept for 90 days. | To which bucket does the nightly backup go?
Refunds above 250 euro need a second signature of Dora. | Which refunds need a second signature?
The VPN of the office in Lyon uses port 51820. | Which port does the VPN in Lyon use?
The warehouse closes at 17:30 from October to March. | When does the warehouse close in winter, from October on?
The contract with the parcel service Swiftbox ends on 30 June 2027. | When does the contract with Swiftbox end?
Customers in Norway pay no customs fee below 350 NOK. | Below which amount do customers in Norway pay no customs fee?
The staging cluster is rebuilt every Sunday at 04:00. | When is the staging cluster rebuilt?
The logo must not be printed smaller than 12 mm. | How small may the logo be printed?
New tenants get the plan called Basic for the first fourteen days. | Which plan do new tenants get at first?
The rate limit of the public API is 600 requests a minute. | What is the rate limit of the public API?
Passwords of test accounts are reset on the first Monday of a month. | When are passwords of test accounts reset?
The freezer in hall B has to stay below minus 18 degrees. | How cold has the freezer in hall B to stay?
Tickets of gold customers are answered within two hours. | How fast are tickets of gold customers answered?
The release branch is cut by Ines on the last Wednesday of the month. | Who cuts the release branch?
""",
    ),
    *_facts(
        "rare word",
        """
Yusuf keeps the keys of the server room in the grey cabinet. | I need to talk to Yusuf, what is he responsible for?
The Grafana board of the payments lives under /d/pay-eu. | How do I get to Grafana?
Terraform state is locked in the table tf-locks in Frankfurt. | My terraform run hangs, what should I look at?
Bluebird is the internal name of the loyalty programme. | Somebody mentioned Bluebird, what is that?
The fire drill takes place on the third Thursday in May. | Is there a drill this spring?
Mileage is paid at 42 cents per kilometre since January. | How much do I get back for my mileage?
The print shop Kessel & Sons delivers within four working days. | How long will Kessel take?
Ms Okafor signs every lease of the branches. | Who is Okafor?
The barcode scanners of the returns desk speak EAN-13 only. | Can I use another barcode format?
Vouchers expire after eighteen months and cannot be paid out. | How long is a voucher valid?
The quarterly newsletter is written by Tamsin. | Whom do I ask about the newsletter?
Redis is only a cache here and may be flushed at any time. | May I wipe redis?
Pallets from Gdansk come without a delivery note. | What is special about shipments that come from Gdansk?
The intern programme is paused until the audit is through. | Can we hire an intern?
""",
    ),
    *_facts(
        "german",
        """
Die Bestellungen werden freitags um zehn Uhr an die Spedition Harms übergeben. | Wann werden die Bestellungen an die Spedition übergeben?
Der Betriebsrat tagt jeden zweiten Dienstag im Raum Elbe. | In welchem Raum tagt der Betriebsrat?
Für Reisen über 500 Euro braucht man die Freigabe von Frau Petersen. | Wer erteilt die Freigabe für Reisen?
Die Kaffeemaschine im dritten Stock wird von Firma Brandt gewartet. | An wen wende ich mich wegen der Kaffeemaschine?
Das Archiv der Lohnabrechnungen liegt zehn Jahre im Keller der Filiale Mainz. | Wie lange liegt das Archiv der Lohnabrechnungen im Keller?
""",
    ),
    *_facts(
        "chinese",
        """
发票必须在每月二十五日之前交给财务部的王敏。 | 发票什么时候要交给财务部？
仓库的备用钥匙放在前台的蓝色抽屉里。 | 仓库的备用钥匙在哪里？
上海分公司的服务器每周三凌晨重启。 | 上海分公司的服务器什么时候重启？
客户退货超过三十天需要经理签字。 | 退货超过三十天要谁签字？
""",
    ),
]
"""What may be promoted, and what is asked about it."""

_TALK = """
I looked at {thing} of {who} and found nothing that has to be changed today.
{who} asked for {thing} of last week; I sent a short list and closed the ticket {number}.
The report on {thing} is ready, with {number} rows and a chart for every branch.
Ticket {number} was about {thing}; the customer was glad and wrote back to {who}.
I have read the mail of {who} about {thing} and wrote an answer that is friendly and short.
Checked {thing} again at {hour}: {number} entries, all of them plain, so I went on.
{who} wants a meeting about {thing} on {day}; I proposed {hour} in the large room.
The page about {thing} loads slowly, it took {number} milliseconds this morning.
Here is a summary of the call with {who}: we talked about {thing} and about {other}.
I compared {thing} with {other} for {who}; the difference was {number} in all.
Thanks, {who}! I will keep an eye on {thing} and tell you when something happens.
There were {number} questions about {thing} on {day}, more than about {other}.
I could not find who was responsible for {thing}, so {who} will ask around on {day}.
Please note that I have only renamed {other} and did not touch {thing} of {who}.
How long it will take to go through {thing} is unclear, maybe until {hour} on {day}.
A customer said that {thing} came late and that {other} was paid for twice.
The first draft of the text on {thing} is done and needs a second look by {who}.
On {day} the team of {who} works on {thing} and keeps {other} for the week after.
Nothing special today: {thing} was counted at {hour}, and {other} is still open.
What I get for {thing} is {number}, and {who} gets the same, so that seems to be right.
Die Anfrage von {who} zu {ding} ist erledigt, es waren {number} Zeilen.
Wann {ding} fertig wird, ist offen; {who} meldet sich am {tag} noch einmal.
Ich habe {ding} geprüft und um {hour} eine kurze Antwort an {who} geschrieben.
客户在{hour}询问了{事}，我已经回复并关闭了工单{number}。
今天整理了{事}，一共{number}条，下周再和同事核对一次。
"""
_WORDS = {
    "thing": "the orders|the invoices|the stock list|the backup job|the price list|the newsletter"
    " text|the server logs|the returns|the test accounts|the customers in France|the delivery"
    " dates|the office plants|the build times|the warehouse shelves|the refunds|the release notes"
    "|the suppliers|the contract drafts|the tickets|the printer|the payments|the search results",
    "other": "the calendar|the old drafts|the wiki pages|the parking lot|the coffee orders|the"
    " branch offices|the shop windows|the API examples|the cluster metrics|the phone list|the plan"
    " for spring|the customs forms|the deploy log|the keys of the bikes",
    "who": "Ben|Dora|Carl|Lea|Tom|Ines|Mara|Jonas|Priya|Wei",
    "day": "Monday|Tuesday|Wednesday|Thursday|Friday",
    "ding": "den Rechnungen|den Bestellungen|dem Lagerbestand|der Spedition|den Reisen|dem Archiv",
    "tag": "Montag|Dienstag|Mittwoch|Donnerstag|Freitag",
    "事": "订单|发票|库存|退货|仓库|服务器",
    "hour": "8:15|9:40|10:05|11:30|13:20|14:45|15:10|16:55",
}


def chatter(seed: int) -> Iterator[str]:
    """Yield what agents say of their day, without an end."""
    chance, templates = random.Random(seed), _TALK.strip().splitlines()
    choices = {name: words.split("|") for name, words in _WORDS.items()}
    while True:
        slots = {name: chance.choice(words) for name, words in choices.items()}
        yield chance.choice(templates).format(number=chance.randint(3, 9999), **slots)


@dataclass(frozen=True)
class Step:
    """One thing that happens: an agent says something, or a person promotes a fact."""

    at: datetime
    text: str
    promoted: bool


FIRST_DAY = datetime(2026, 3, 2, 7, tzinfo=UTC)


def facts_of(seed: int, count: int = 25) -> list[Fact]:
    """Return the facts that are promoted in a month."""
    return random.Random(f"facts {seed}").sample(FACTS, count)


def steps_of(seed: int, count: int = 2000, days: int = 30, sentences: int = 1) -> Iterator[Step]:
    """Yield the steps of a month in their order; all facts are promoted before its last days.

    Args:
        seed: Of everything that is left to chance.
        count: How many things agents say.
        days: In how many days.
        sentences: How many sentences of talk each of them has.
    """
    chance, talk, facts = random.Random(f"steps {seed}"), chatter(seed), facts_of(seed)
    moments = chance.sample(range(count * 14 // 15), len(facts))
    promoted = dict(zip(moments, facts, strict=True))
    for number in range(count):
        at = FIRST_DAY + timedelta(days=days) * number / count
        if fact := promoted.get(number):
            yield Step(at, fact.text, promoted=True)
        yield Step(at, " ".join(next(talk) for _ in range(sentences)), promoted=False)
