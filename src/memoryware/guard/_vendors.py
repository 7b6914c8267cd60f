"""What tokens of known services look like: a kind, what they begin with, what follows.

Facts only; the lengths are lower bounds where a service has changed them before. What is
meant to be published (Stripe's `pk_`, Mapbox's `pk.`) is not in here.
"""

from __future__ import annotations

from typing import Final

_A: Final = "[A-Za-z0-9]"
_W: Final = "[A-Za-z0-9_-]"
_H: Final = "[0-9a-fA-F]"
_B: Final = "[A-Za-z0-9+/_-]"
UUID: Final = f"{_H}{{8}}-{_H}{{4}}-{_H}{{4}}-{_H}{{4}}-{_H}{{12}}"

VENDORS: Final[tuple[tuple[str, str, str], ...]] = (
    # clouds
    ("AWS access key", "AKIA ASIA ABIA ACCA", "[A-Z2-7]{16}"),
    ("AWS Bedrock key", "ABSK", f"{_B}{{80,255}}={{0,2}}"),
    ("AWS session token", "IQoJb3JpZ2lu FwoGZXIvYXdz", f"{_B}{{60,4000}}={{0,2}}"),
    ("Amazon MWS token", "amzn.mws.", UUID),
    ("Google API key", "AIza", f"{_W}{{35}}"),
    ("Google OAuth secret", "GOCSPX-", f"{_W}{{24,40}}"),
    ("Google OAuth token", "ya29.", f"{_W}{{20,1000}}"),
    ("Google storage key", "GOOG1E GOOG", "[A-Z0-9]{20,60}"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", f"{_H}{{60,70}}"),
    ("DigitalOcean Spaces key", "DO00", "[A-Z0-9]{16}"),
    ("Heroku key", "HRKU-", f"(?:{UUID}|{_W}{{40,80}})"),
    ("Databricks token", "dapi", f"{_H}{{32}}(?:-\\d)?"),
    ("Cloudflare key", "v1.0-", f"{_H}{{24}}-{_H}{{100,160}}"),
    ("Cloudflare token", "cfut_ cfat_ cfk_", f"{_W}{{36,80}}"),
    ("Fly.io token", "fm1_ fm1r_ fm1a_ fm2_ fo1_", "[A-Za-z0-9+/=,_-]{36,2000}"),
    ("Vercel token", "vcp_ vci_ vca_ vcr_ vck_", f"{_A}{{24,64}}"),
    ("Netlify token", "nfp_ nfc_ nfo_ nfb_ nfu_", f"{_A}{{32,64}}"),
    ("Supabase key", "sbp_ sb_secret_", f"{_W}{{24,64}}"),
    ("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[A-Za-z0-9_.=-]{30,70}"),
    ("Linode token", "linode_pat_", f"{_H}{{40,70}}"),
    ("Terraform token", "atlasv1.", f"{_W}{{50,80}}"),
    ("Vault token", "hvs. hvb. hvr.", f"{_W}{{20,300}}"),
    ("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "[A-Za-z0-9_.-]{36,90}"),
    ("Render key", "rnd_", f"{_A}{{28,40}}"),
    # code and packages
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", f"{_A}{{30,255}}"),
    ("GitHub token", "github_pat_", "[A-Za-z0-9_]{50,255}"),
    (
        "GitLab token",
        (
            "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- glffct- gloas-"
            " glwt-"
        ),
        "[A-Za-z0-9_.-]{20,320}",
    ),
    ("GitLab runner token", "GR1348941", f"{_W}{{20,22}}"),
    ("Bitbucket token", "ATBB ATCTT3xFfG", "[A-Za-z0-9_=-]{24,220}"),
    ("npm token", "npm_", f"{_A}{{30,60}}"),
    ("PyPI token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBp", f"{_W}{{50,1000}}"),
    ("Docker token", "dckr_pat_ dckr_oat_", f"{_W}{{24,40}}"),
    ("CircleCI token", "CCIPAT_ CCIPRJ_", f"{_A}{{15,30}}_{_H}{{40}}"),
    ("SonarQube token", "sqp_ squ_ sqa_", f"{_H}{{40}}"),
    ("Sentry token", "sntrys_ sntryu_", "[A-Za-z0-9+/=_.-]{40,500}"),
    # language models
    ("OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", f"{_W}{{40,255}}"),
    ("Anthropic key", "sk-ant-", f"(?:[a-z]{{2,8}}\\d{{2}}-)?{_W}{{40,255}}"),
    ("OpenRouter key", "sk-or-v1-", f"{_H}{{60,70}}"),
    ("OpenAI key", "sk-", f"{_A}{{20,64}}"),
    ("Hugging Face token", "hf_ api_org_", f"{_A}{{30,60}}"),
    ("Replicate token", "r8_", f"{_A}{{36,44}}"),
    ("Groq key", "gsk_", f"{_A}{{44,64}}"),
    ("xAI key", "xai-", f"{_A}{{60,100}}"),
    ("Perplexity key", "pplx-", f"{_A}{{40,64}}"),
    ("NVIDIA key", "nvapi-", f"{_W}{{50,90}}"),
    ("LangSmith key", "lsv2_pt_ lsv2_sk_", f"{_H}{{32}}_{_H}{{8,12}}"),
    ("Langfuse key", "sk-lf-", UUID),
    ("Pinecone key", "pcsk_", f"{_W}{{50,90}}"),
    ("Tavily key", "tvly-", f"{_W}{{24,64}}"),
    # messages
    ("Slack token", "xoxb- xoxa- xoxp- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe.xox", "[\\w.%-]{20,400}"),
    ("Slack token", "xapp-", f"\\d-{_W}{{30,200}}"),
    ("Twilio key", "SK", "[0-9a-f]{32}"),
    ("SendGrid key", "SG.", f"{_W}{{16,32}}\\.{_W}{{32,64}}"),
    ("Mailgun key", "key-", f"{_H}{{32}}"),
    ("Brevo key", "xkeysib- xsmtpsib-", f"{_H}{{64}}-{_A}{{16}}"),
    ("Discord token", "mfa.", f"{_W}{{80,100}}"),
    ("Telegram bot token", "AA", f"(?<=\\d:AA){_W}{{32,34}}"),
    # money and shops
    ("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_live_ sk_org_test_", f"{_A}{{16,255}}"),
    ("Stripe webhook secret", "whsec_", "[A-Za-z0-9+/=]{24,90}"),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_", f"{_H}{{32}}"),
    ("Square token", "sq0atp- sq0csp-", f"{_W}{{22,60}}"),
    ("Square token", "EAAA", f"{_W}{{56,64}}"),
    ("Facebook token", "EAAC EAAG EAAB EAAD EAAE EAAF", f"{_A}{{60,400}}"),
    # work
    ("Notion token", "ntn_", f"{_A}{{40,60}}"),
    ("Notion token", "secret_", f"{_A}{{43}}"),
    ("Linear key", "lin_api_ lin_oauth_ lin_wh_", f"{_A}{{32,70}}"),
    ("Figma token", "figd_ figu_ figo_", f"{_W}{{36,60}}"),
    ("Postman key", "PMAK-", f"{_H}{{24}}-{_H}{{34}}"),
    ("Airtable token", "pat", f"{_A}{{14}}\\.{_H}{{64}}"),
    ("Atlassian token", "ATATT3xFf", "[A-Za-z0-9_=-]{80,250}"),
    ("HubSpot token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", UUID),
    ("Okta token", "00", f"{_W}{{40}}"),
    # watching
    ("New Relic key", "NRAK- NRJS- NRII- NRSP- NRRA- NRIQ-", f"{_W}{{18,42}}"),
    ("Grafana token", "glsa_", f"{_A}{{32}}_{_H}{{8}}"),
    ("Grafana token", "glc_", "[A-Za-z0-9+/=]{32,400}"),
    # keys as such
    ("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    ("extended private key", "xprv yprv zprv tprv", "[1-9A-HJ-NP-Za-km-z]{100,112}"),
    ("Nostr key", "nsec1", "[a-z0-9]{58}"),
)
"""Kind, prefixes, and a pattern for what follows one of them."""

LED: Final = frozenset({"Telegram bot token"})
"""Kinds whose digits and colon in front are part of them."""
WIDE: Final = ("ABSK", "IQoJb3JpZ2lu", "FwoGZXIvYXdz", "fm1", "fm2_", "fo1_", "sntry", "whsec_", "glc_")
"""Beginnings of those that may have `+`, `/` and `=` inside."""
NO_ENTROPY_NEEDED: Final = frozenset({"Amazon MWS token", "Langfuse key", "HubSpot token"})
