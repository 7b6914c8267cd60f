"""What tokens of known services look like: a kind, what they begin with, what follows.

Facts only; the lengths are lower bounds where a service has changed them before. What is
meant to be published (Stripe's `pk_`, Mapbox's `pk.`) is not in here.
"""

from __future__ import annotations

from typing import Final

from memoryware.guard._secrets.lexicon import listed

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
    ("Terraform token", "atlasv1.", f"{_W}{{40,90}}"),
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
    (
        "Slack token",
        "xoxb- xoxa- xoxp- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe.xox",
        "[\\w.%-]{20,400}",
    ),
    ("Slack token", "xapp-", f"\\d-{_W}{{30,200}}"),
    ("Twilio key", "SK", "[0-9a-f]{32}"),
    ("SendGrid key", "SG.", rf"{_W}{{16,32}}\.{_W}{{32,64}}"),
    ("Mailgun key", "key-", f"{_H}{{32}}"),
    ("Brevo key", "xkeysib- xsmtpsib-", f"{_H}{{64}}-{_A}{{16}}"),
    ("Discord token", "mfa.", f"{_W}{{80,100}}"),
    ("Telegram bot token", "AA", f"(?<=\\d:AA){_W}{{32,34}}"),
    # money and shops
    (
        "Stripe key",
        "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_live_ sk_org_test_",
        f"{_A}{{16,255}}",
    ),
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
    ("Airtable token", "pat", rf"{_A}{{14}}\.{_H}{{64}}"),
    ("Atlassian token", "ATATT3xFf", "[A-Za-z0-9_=-]{80,250}"),
    ("HubSpot token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", UUID),
    ("Okta token", "00", f"(?={_W}{{0,39}}[a-z]){_W}{{40}}"),
    # watching
    ("New Relic key", "NRAK- NRJS- NRII- NRSP- NRRA- NRIQ-", f"{_W}{{18,42}}"),
    ("Grafana token", "glsa_", f"{_A}{{32}}_{_H}{{8}}"),
    ("Grafana token", "glc_", "[A-Za-z0-9+/=]{32,400}"),
    # more clouds, packages and tools
    ("Alibaba access key", "LTAI", f"{_A}{{12,26}}"),
    ("Tencent secret id", "AKID", f"{_A}{{32}}"),
    ("Yandex key", "AQVN", f"{_W}{{35,38}}"),
    ("Yandex token", "y0_ t1.", f"{_W}{{50,200}}"),
    ("Scaleway key", "SCWSECRET- SCW", f"(?:{UUID}|[A-Z0-9]{{17}})"),
    ("Tailscale key", "tskey-", f"[a-z]{{2,8}}-{_W}{{20,80}}"),
    ("RubyGems key", "rubygems_", f"{_H}{{48}}"),
    ("NuGet key", "oy2", "[a-z0-9]{43}"),
    ("Clojars token", "CLOJARS_", f"{_H}{{60}}"),
    ("crates.io token", "cio", f"{_A}{{32}}"),
    ("JFrog key", "AKCp cmVmdGtu", f"{_A}{{56,72}}"),
    ("Pulumi token", "pul-", f"{_H}{{40}}"),
    ("Octopus key", "API-", "[A-Z0-9]{26,32}"),
    ("Harness token", "pat. sat.", rf"{_W}{{22}}\.{_H}{{24}}\.{_A}{{20}}"),
    ("Buildkite token", "bkua_ bkpt_ bkaj_", f"{_H}{{40}}"),
    ("Infracost key", "ico-", f"{_A}{{32}}"),
    ("Prefect key", "pnu_ pnb_", f"{_A}{{36}}"),
    ("dbt token", "dbtc_ dbtu_", "[A-Za-z0-9_.=-]{30,80}"),
    ("JetBrains token", "perm:", "[A-Za-z0-9+/=._-]{40,200}"),
    ("OpenShift token", "sha256~", f"{_W}{{43}}"),
    ("1Password token", "ops_eyJ", f"{_B}{{60,1500}}={{0,2}}"),
    (
        "1Password key",
        "A3-",
        "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-(?:[A-Z0-9]{5}-){2}[A-Z0-9]{5}",
    ),
    ("Ory token", "ory_pat_ ory_st_ ory_at_", f"{_W}{{30,120}}"),
    ("Sourcegraph token", "sgp_ slk_", f"(?:{_A}{{16}}_|local_)?{_H}{{40,64}}"),
    # more services
    ("Dynatrace token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("Datadog key", "ddapi_ ddapp_", f"{_A}{{32,60}}"),
    ("LaunchDarkly key", "sdk- mob- api-", UUID),
    ("PostHog key", "phx_ phs_", f"{_W}{{40,60}}"),
    ("Flutterwave key", "FLWSECK-", f"{_H}{{32}}-X"),
    ("Flutterwave key", "FLWSECK_TEST- FLWSECK_PROD-", f"{_A}{{12,40}}(?:-X)?"),
    ("Razorpay key", "rzp_live_ rzp_test_", f"{_A}{{14}}"),
    ("Plaid token", "access-sandbox- access-development- access-production-", UUID),
    ("Adyen key", "AQE", "[A-Za-z0-9+/]{80,220}={0,2}"),
    ("Paddle key", "pdl_", f"(?:live|sdbx)_apikey_{_A}{{26}}_{_A}{{22}}_{_A}{{3}}"),
    ("EasyPost key", "EZAK EZTK", f"{_A}{{54}}"),
    ("Shippo token", "shippo_live_ shippo_test_", f"{_H}{{40}}"),
    ("Duffel token", "duffel_live_ duffel_test_", f"{_W}{{43}}"),
    ("Lob key", "live_ test_", f"(?:{_H}{{35}}|{_A}{{30}})"),
    ("Dropbox token", "sl.", f"{_W}{{100,1500}}"),
    ("Twitch token", "oauth:", "[a-z0-9]{30}"),
    ("Twitter token", "AAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{60,120}"),
    ("Instagram token", "IGQV IGAA", f"{_A}{{80,400}}"),
    ("LinkedIn token", "AQV AQX", f"{_W}{{150,600}}"),
    ("Trello token", "ATTA", f"{_H}{{64}}"),
    ("ClickUp token", "pk_", r"\d{5,10}_[A-Z0-9]{32}"),
    ("Typeform token", "tfp_", f"{_W}{{40,70}}"),
    ("Contentful token", "CFPAT-", f"{_W}{{43}}"),
    ("Frame.io token", "fio-u-", f"{_W}{{60,70}}"),
    ("ReadMe key", "rdme_", "[a-z0-9]{60,80}"),
    ("Mapbox token", "sk.eyJ", r"[\w-]{20,400}\.[\w-]{16,60}"),
    ("Cal.com key", "cal_live_ cal_", f"{_H}{{32,64}}"),
    ("Mandrill key", "md-", f"{_W}{{22}}"),
    ("Resend key", "re_", f"{_A}{{6,10}}_{_A}{{20,28}}"),
    ("Voyage key", "pa-", f"{_W}{{43}}"),
    ("Jina key", "jina_", f"{_A}{{50,70}}"),
    ("Fireworks key", "fw_", f"{_A}{{20,30}}"),
    ("Firecrawl key", "fc-", f"{_H}{{32}}"),
    ("Cerebras key", "csk-", f"{_A}{{40,60}}"),
    ("Together key", "tgp_v1_", f"{_W}{{40,60}}"),
    ("ElevenLabs key", "sk_", f"{_H}{{48}}"),
    ("Elastic key", "essu_", f"{_W}{{40,120}}"),
    ("Honeycomb key", "hcaik_ hcbik_ hcxik_", "[a-z0-9]{50,70}"),
    ("Apify token", "apify_api_", f"{_A}{{30,45}}"),
    ("Telnyx key", "KEY0", f"{_A}{{30,36}}_{_A}{{22}}"),
    ("Aikido token", "AIK_CI_ AIK_", f"{_A}{{24,64}}"),
    ("Bitbucket token", "BBDC-", "[A-Za-z0-9+/=_-]{30,60}"),
    ("CockroachDB key", "CCDB1_", f"{_W}{{40,80}}"),
    ("DataStax token", "AstraCS:", f"{_A}{{20,40}}(?::{_H}{{64}})?"),
    ("Docker Swarm key", "SWMKEY-1- SWMTKN-1-", "[A-Za-z0-9+/=-]{40,120}"),
    ("OneSignal key", "os_v2_app_ os_v2_org_", "[a-z2-7]{80,120}"),
    ("Pinterest token", "pina_", f"{_A}{{18,64}}"),
    ("Polar token", "polar_oat_ polar_pat_", f"{_A}{{24,64}}"),
    ("SettleMint token", "sm_aat_ sm_pat_ sm_sat_", f"{_A}{{16}}"),
    ("Thunderstore token", "tss_", f"{_W}{{26,64}}"),
    ("UpCloud token", "ucat_", f"{_A}{{24,64}}"),
    ("Val Town token", "vtwn_", f"{_W}{{24,40}}"),
    ("Postman token", "PMAT-", f"{_A}{{24,40}}"),
    ("Retool token", "retool_", f"{_A}{{20,60}}"),
    ("Brave key", "BSA", f"{_W}{{24,28}}"),
    ("Defined Networking key", "dnkey-", f"{_W}{{20,40}}-{_W}{{40,60}}"),
    (
        "Onfido token",
        "api_live. api_live_us. api_live_ca. api_sandbox.",
        rf"{_W}{{8,20}}\.?{_W}{{16,40}}",
    ),
    ("DevCycle key", "dvc_server_ dvc_mobile_ dvc_client_", f"{_W}{{14,60}}"),
    # keys as such
    ("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    ("extended private key", "xprv yprv zprv tprv", "[1-9A-HJ-NP-Za-km-z]{100,112}"),
    ("Nostr key", "nsec1", "[a-z0-9]{58}"),
)
"""Kind, prefixes, and a pattern for what follows one of them."""

LED: Final = frozenset({"Telegram bot token"})
"""Kinds whose digits and colon in front are part of them."""
WIDE: Final = (
    "ABSK",
    "IQoJb3JpZ2lu",
    "FwoGZXIvYXdz",
    "fm1",
    "fm2_",
    "fo1_",
    "sntry",
    "whsec_",
    "glc_",
)
"""Beginnings of those that may have `+`, `/` and `=` inside."""
EVEN: Final = frozenset(
    (
        "Amazon MWS token",
        "Langfuse key",
        "HubSpot token",
        "LaunchDarkly key",
        "Plaid token",
        "Scaleway key",
        "1Password key",
    )
)
"""Kinds whose characters are spread too evenly, or too little, to be judged by chance."""

# Names that stand before random values: of services, of things that are no secret.

SERVICES: Final = frozenset(
    listed("""
        abuseipdb adafruit algolia alphavantage amplitude appdynamics asana assemblyai binance
        bitfinex bitly bitrise bittrex bugsnag censys cloudflare cloudinary codecov cohere
        coinbase coingecko coinmarketcap confluent contentful coveralls datadog deepgram deepl
        deepseek digicert disqus dnsimple droneci dropbox duo elevenlabs etsy eventbrite fastly
        finnhub flickr flutterwave foursquare freshbooks freshdesk gandi giphy gitea gocardless
        godaddy greenhouse helpscout heroku hetzner hibp intercom ipinfo ipstack jenkins jumpcloud
        kaggle klaviyo kraken kucoin lastfm launchdarkly lemonsqueezy linkedin linode logdna
        loggly mailboxlayer mailchimp mailgun mailjet mandrill mapquest mattermost maxmind
        messagebird mistral mixpanel mollie mongodb namecheap netlify newsapi nexmo ngrok nytimes
        okta omdb opencage openweather openweathermap opsgenie ovh pagerduty paypal pinecone
        pingdom pipedrive plaid postmark pusher quickbooks rapidapi razorpay recaptcha rollbar
        salesforce scaleway sendbird sendinblue shodan snyk sonar sonarqube sparkpost splunk
        spoonacular spotify squarespace statuspage sumologic surveymonkey tiingo tmdb todoist
        tomtom travis trello twelvedata twilio twitch twitter typeform unsplash uptimerobot
        urlscan vercel virustotal vonage vultr wakatime wandb weatherapi weatherbit weatherstack
        webflow wistia xero yelp zendesk zeplin zoho zoom
    """)
)
"""Services whose keys nothing marks."""
PUBLISHED: Final = frozenset(
    listed("""
        pk pub public publishable
    """)
)
"""First words of keys that are meant to be published."""
NAMED: Final = frozenset(
    listed("""
        sha sha1 sha256 sha512 md5 blake2b blake3 commit rev ref etag hash digest checksum id img
        image file chunk build req request trace span msg message chatcmpl resp call run thread
        asst cs pi price prod cus evt ch in sub si seti src txn tr acct batch toolu toolcall obj
        object node session job task event user org proj team doc page block item row main vendor
        index bundle style app asset cache layer snap vol ami subnet vpc sg eni pod container
        cluster fingerprint uuid guid nonce cid bafy version release tmp temp log backup invoice
        order payment fp css module polyfills runtime styles rs fc ws revision head base tree blob
        patch diff gist repo pull issue ticket case feature branch host zone region stack policy
        role param device client customer chat channel room group member contact lead deal account
        report export import archive snapshot photo video audio media upload download attachment
        thumb avatar icon font sprite model checkpoint dataset embedding vector shard partition
        topic queue stream offset schema table migration lock state code verifier challenge sri
        integrity transaction tx address contract wallet ipfs qm bafybei did urn oid arn eth btc
        sidecar deployment replicaset service ingress cron pipeline workflow step artifact linux
        windows macos darwin ubuntu debian alpine python npm pip cargo go java response cookie
        visitor experiment variant flag metric pm dpl prj
    """)
)
"""First words of identifiers that are long and random and no secret."""
IDENTIFIES: Final = frozenset(
    listed("""
        id ids commit sha hash page file event trace issue project org organisation organization
        workspace database build deploy deployment release version sha1 sha256 md5 image digest
        object record order customer account zone user team board card list ticket case public
        publishable site url link session request ref app fingerprint checksum uuid dsn client
    """)
)
"""Words beside a random value that is no secret."""
