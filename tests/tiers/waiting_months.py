"""Months of talk in which facts wait for review; everything is made from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class WaitingMonth:
    """What waits at the end of a month.

    Attributes:
        facts: The statements that a reviewer should see first.
        texts: All texts in the order in which they were recorded, the facts among them.
    """

    facts: tuple[str, ...]
    texts: tuple[str, ...]


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


# A museum: few forms of talk, each many times.

_MUSEUM_FACTS = _lines(
    """
The museum is closed on Mondays, except on public holidays.
School classes pay 3 euros per pupil.
Flash photography is forbidden in the east wing.
The amber room is kept at 19 degrees.
Loans above 50,000 euros need the signature of Director Haas.
The audio guides are stored in locker K7.
Tickets are refunded up to 24 hours before the visit.
Nobody may touch the tapestry without gloves.
The emergency exit of hall 3 leads to Garden Street.
Guided tours in French start at 11:15 on Saturdays.
The insurance of the Vermeer runs with Alpina Mutual.
Members of the society get 20% off in the shop.
Dr. Okonkwo is responsible for the coin collection.
The archive uses the catalogue system TMS 9.
Wheelchairs can be borrowed at entrance B only.
Donations go to the account of the Friends of the Museum at Nordbank.
The humidity in the depot must never exceed 55%.
Interns are paid by the city, not by the museum.
The café accepts no cash.
Loud groups have to use the side staircase.
Our newsletter has 4,200 subscribers.
The roof terrace holds at most 80 people.
Der Lastenaufzug trägt höchstens 900 Kilogramm.
Die Schlüssel der Vitrinen liegen bei Frau Brandt.
古代陶器展厅每天只接待五十名参观者。
钱币馆的钥匙由保安队长保管。
Lost property is kept for 6 months.
The lights of the dinosaur hall switch off at 18:05.
Press pictures must carry the name of the photographer.
Prints are framed by the workshop Lindqvist.
"""
)
_MUSEUM_TALK = _lines(
    """
Ticket {number}: {who} reports that {thing} in {place} is broken again.
Ticket {number} was closed after {who} replaced {thing}.
Ticket {number}: a visitor complained about {thing}, {who} apologised.
Thanks {who}, that was really helpful!
Thank you for looking into {thing}, {who}.
Great job today, everybody, especially {who}!
I will check {thing} with {who} on {day}.
Tomorrow I want to walk through {place} and look at {thing}.
Let's talk about {thing} in the next meeting, maybe on {day}.
Next week {who} and I plan to clean {place}.
I told {who} that {thing} has to wait until {day}.
{who} asked me about {thing}, and I sent a short answer.
There were {number} visitors in {place} today, a bit more than on {day}.
Just a quick note: {who} moved {thing} to {place} this morning.
We had {number} calls yesterday, most of them about {thing}.
Could you please send me the list for {place}, {who}?
Sorry, I did not see the message of {who} about {thing}.
The delivery for {place} came at {hour}, {who} signed for it.
I counted {thing} twice and got {number} both times.
Nothing special happened in {place} tonight.
{who} is ill today, so {thing} is postponed.
Danke {who}, das hat sehr geholfen!
Ich kümmere mich morgen um {thing}.
谢谢，{place}的事情已经处理好了。
我明天再去看一下{place}。
"""
)
_MUSEUM_WORDS = {
    "thing": "the projector|the ticket printer|the display case|the coat rack|the guest book"
    "|the heating|the big lamp|the floor plan|the water tap|the screen|the door bell|the cash desk"
    "|the loudspeaker|the sign|the mop|the camera",
    "place": "hall 1|hall 2|hall 5|the lobby|the shop|the depot|the east wing|the garden|the office",
    "who": "Pia|Oskar|Noor|Ivo|Greta|Samir|Lotte|Hugo",
    "day": "Monday|Tuesday|Wednesday|Thursday|Friday",
    "hour": "8:10|9:25|10:40|13:05|15:50",
}

# An office: every line of talk is another, and few come twice.

_OFFICE_FACTS = _lines(
    """
Payroll runs on the 25th of every month.
Use the staging key for tests, never the live key.
Customer data must not leave the EU.
The billing service listens on port 8443.
Mara's daughter is allergic to hazelnuts.
Support answers premium customers within four hours.
The main database is CockroachDB 23 on host ares.
Nobody but the on-call engineer may restart Kafka.
Contracts above 10,000 euros need two signatures.
Our fiscal year starts in October.
The Vienna branch closes at noon on Saturdays.
Passwords have to be at least 14 characters long.
API clients are limited to 120 requests per minute.
Lena prefers short answers without bullet points.
Releases are tagged with a calendar version such as 2026.5.
The mascot is called Otto.
Returns are accepted for 60 days.
The telescope in the lab is calibrated by Dr. Yilmaz.
Feature flags live in the table toggles.
Deliveries go to gate B, not to reception.
Meeting notes are written in English.
The insurance number of the van is KX-2291.
Backups are kept in Zurich.
Die Urlaubsanträge genehmigt Frau Sommer.
公司的发票抬头是蓝海科技有限公司。
"""
)
_OFFICE_TALK = _lines(
    """
Thanks a lot, that fixed it!
Great, I'll have a look after lunch.
Good morning everybody.
Could you send me the slides again?
I restarted the service and it seems to be fine now.
The printer on the second floor is jammed again.
Ticket {number}: user cannot log in, password was reset, closed.
Ticket {number}: screen stays black after the update; replaced the cable.
Ticket {number} is waiting for an answer from the vendor.
We talked about the budget for an hour and did not get anywhere.
Sounds good to me.
I am going to draft the announcement tomorrow and send it round.
Tomorrow I want to go through the open tickets with Lena.
Next week we plan to migrate the wiki, if nobody objects.
Let me check the logs first.
The build failed twice this morning because of a flaky test.
No worries, take your time.
The customer called back and was happy with the replacement.
Here is the summary you asked for.
I could not reproduce the problem on my machine.
Sorry for the delay, I was in a meeting.
The deployment of build {number} finished without errors.
Does anyone know where the projector is?
I moved the meeting with the agency to Thursday at 3.
The lift is out of order since this morning.
You're welcome, glad it helped.
I found three typos in the newsletter and corrected them.
Paul is sick today, so the stand-up is cancelled.
Waiting for the review of pull request {number}.
The pull request {number} was merged after two small changes.
We ran out of coffee beans.
It took about twenty minutes to import the spreadsheet.
The call with the supplier was short and friendly.
Maybe we should try the other approach.
The disk on build-3 was full, I deleted old artifacts.
The test suite took {number} seconds today.
All good on my side.
Perfect, thank you so much.
The parcel from Hamburg arrived yesterday.
I will ask the legal team about it on Monday.
Looks like the wifi is slow again.
The invoice {number} was sent to the customer this afternoon.
I answered the mail from Mr Klein and closed ticket {number}.
Ticket {number}: the badge does not open the garage; new badge ordered.
Ticket {number}: mail bounced, wrong address, told the customer.
Can we postpone this to Friday?
Just finished the first draft of the concept.
I have compared both offers and prefer the second.
The demo went well, they laughed at the right places.
Will do.
See you at the retro.
The alarm went off by mistake, everything is fine.
I renamed the column and ran the script again.
There were {number} visitors on the stand yesterday.
Done, please refresh the page.
I'll be ten minutes late.
Could somebody water the plants while I'm away?
We decided to wait for the numbers of this quarter.
The heating was repaired this morning.
They asked for a discount again, I said I would get back to them.
Checked the stock: {number} chairs left, 3 of them broken.
The new intern started today and got a laptop.
My flight is delayed, I will join from the airport.
Okay, then let's do it like that.
I spent the morning on the import and it is nearly done.
The tests are green again after the revert.
Ticket {number}: keyboard layout was wrong, changed to German.
What time does the canteen close?
Rolled back the change from last night.
I am not sure whether this is the right channel.
The customer from Bern has not answered yet.
The backup from last night finished late but complete.
Two people asked for a refund this week.
I left the keys with the doorman.
Danke, hat geklappt!
Ich schaue mir das morgen an.
Der Drucker im dritten Stock streikt schon wieder.
Die Besprechung wurde auf Donnerstag verschoben.
Kannst du mir die Liste noch mal schicken?
好的，谢谢！
我明天再看一下日志。
今天的会议改到下午三点。
"""
)


def museum_month(seed: int, facts: int = 25, texts: int = 400) -> WaitingMonth:
    """Return a month whose talk has few forms."""
    return _month(f"museum {seed}", _MUSEUM_FACTS, _MUSEUM_TALK, facts, texts)


def office_month(seed: int, facts: int = 25, texts: int = 400) -> WaitingMonth:
    """Return a month whose talk has many forms, and hardly any of them often."""
    return _month(f"office {seed}", _OFFICE_FACTS, _OFFICE_TALK, facts, texts)


def _month(
    seed: str, facts: list[str], talk: list[str], fact_count: int, count: int
) -> WaitingMonth:
    chance = random.Random(seed)
    chosen = chance.sample(facts, fact_count)
    words = {name: every.split("|") for name, every in _MUSEUM_WORDS.items()}
    said = []
    while len(said) < count - fact_count:
        slots = {name: chance.choice(every) for name, every in words.items()}
        said.append(chance.choice(talk).format(number=chance.randint(100, 9999), **slots))
    texts = [*chosen, *said]
    chance.shuffle(texts)
    return WaitingMonth(tuple(chosen), tuple(texts))
