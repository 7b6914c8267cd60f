"""A floor under what recall finds by words alone: thirty memories, thirty questions."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tiers.kit import DOORS, HashEmbeddings, parts
from tiers.known import cold, recall, texts
from tiers.long_term import KINDS, both_stores

MEMORIES = """
The shop keeps its orders in PostgreSQL 17 on the server db2.
Invoices are sent by letter on the last working day of each month.
Ann decided in March that refunds above 200 euros need two signatures.
The staging cluster runs on Kubernetes 1.31 in the Frankfurt data centre.
Backups are taken every night at 02:30 and kept for ninety days.
Bob prefers short answers without bullet points.
The public API allows 10,000 requests per hour for each key.
Customers in Switzerland pay in francs and get a separate price list.
Deployments on Fridays were forbidden after the outage of 14 June.
The mobile app is written in Kotlin and Swift; the web shop in TypeScript.
Passwords are hashed with argon2id and rotated never.
Maria leads the warehouse team since the beginning of the year.
Returned goods must arrive within thirty days in their original box.
The newsletter goes to 48,211 readers every second Tuesday.
Search in the shop is built on OpenSearch with synonyms for shoe sizes.
The office cat is called Minka and is fed at noon.
Error code E-4711 means that the payment provider timed out.
Feature flags live in the table feature_flags and are cached for a minute.
The contract with the parcel service ends in December 2027.
New colleagues get a laptop, a badge and a buddy on their first day.
订单数据保存在PostgreSQL数据库里。
每月最后一天发送发票。
退款超过两百欧元需要两个人签字。
测试环境部署在法兰克福机房。
备份每天凌晨两点半进行，保留九十天。
小王喜欢简短的回答。
接口每小时最多允许一万次请求。
周五不允许上线新版本。
仓库由李娜负责。
新员工第一天会领到电脑和工牌。
""".strip().split("\n")


@dataclass(frozen=True)
class Asked:
    """A question, and the place of the memory that answers it."""

    question: str
    answer: int


QUESTIONS = [
    Asked(line.rpartition("|")[0].strip(), int(line.rpartition("|")[2]) - 1)
    for line in """
    Which database do we use for orders? | 1
    When do we send an invoice? | 2
    Who has to sign refunds of more than 200 euros? | 3
    Where is staging running? | 4
    How long is a backup kept? | 5
    How does Bob like his answers? | 6
    What is the limit of requests per hour? | 7
    In which currency do Swiss customers from Switzerland pay? | 8
    Why may I not deploy on a Friday? | 9
    What language is the mobile app written in? | 10
    How are passwords stored and hashed? | 11
    Who is leading the warehouse? | 12
    Until when can a customer return goods? | 13
    How many people read the newsletter? | 14
    What is behind the search of the shop? | 15
    What is the name of the cat? | 16
    What does E-4711 mean? | 17
    Where do I find the feature_flags? | 18
    When does the parcel contract end? | 19
    What does a new colleague get on the first day? | 20
    订单保存在哪个数据库？ | 21
    发票什么时候发送？ | 22
    退款需要谁签字？ | 23
    测试环境在哪里？ | 24
    备份保留多久？ | 25
    小王喜欢什么样的回答？ | 26
    接口每小时允许多少请求？ | 27
    周五可以上线吗？ | 28
    谁负责仓库？ | 29
    新员工第一天领到什么？ | 30
    """.strip().split("\n")
]


def test_each_memory_has_its_question():
    assert sorted(one.answer for one in QUESTIONS) == list(range(len(MEMORIES))) == [*range(30)]


@pytest.mark.parametrize("embedded", [False, True], ids=["words", "words and hashed words"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
async def test_nearly_every_question_finds_its_memory(door, kind, embedded, tmp_path):
    given = parts(both_stores(kind, tmp_path), embeddings=HashEmbeddings(256) if embedded else None)
    for text in MEMORIES:
        cold(given, text)
    first = among = 0
    for asked in QUESTIONS:
        found = texts(await recall(door, given, asked.question))
        first += found[:1] == [MEMORIES[asked.answer]]
        among += MEMORIES[asked.answer] in found[:5]
    given.stores.long_term.close()
    assert among >= 29, f"hit@5 {among} of 30"
    assert first >= 27, f"hit@1 {first} of 30"
