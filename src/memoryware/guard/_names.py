"""Names that stand before random values: of services, of things that are no secret; data only."""

from __future__ import annotations

from typing import Final

from memoryware.guard._lexicon import listed

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
