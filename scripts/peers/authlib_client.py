"""What a client that is made with Authlib does at the OAuth endpoints of Remit: `python authlib_client.py`.

`REMIT_URL` and `REMIT_KEY` are those of a server and of an administrator, `REMIT_ORG` is the organization.
Prints the number of checks as JSON, and ends with 1 if one of them fails.
"""

import asyncio
import importlib.metadata
import json
import os
import secrets
import sys
import time
import unittest

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # The server of the test is on this machine.

import requests
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc6750.errors import InsufficientScopeError, InvalidTokenError
from authlib.oauth2.rfc7662 import IntrospectTokenValidator
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

URL, KEY, ORG = (os.environ[name] for name in ("REMIT_URL", "REMIT_KEY", "REMIT_ORG"))
ISSUER = "https://idp.test"
EXCHANGE = {
    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
}
METHODS = ("client_secret_basic", "client_secret_post")


def admin(method, path, body=None):
    answer = requests.request(method, URL + path, json=body, headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def metadata():
    return requests.get(get_well_known_url(URL, external=True), timeout=60).json()


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = {
            "ES256": ECKey.generate_key("P-256", {"use": "sig", "alg": "ES256"}, auto_kid=True),
            "RS256": RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True),
        }
        cls.server = metadata()
        issuer = admin("POST", "/v1/identity/idp", {
            "issuer": ISSUER,
            "audiences": [cls.server["token_endpoint"]],
            "conditions": [{"claim": "sub", "equals": "pipeline"}],
            "agent": {"type": "subjects"},
            "jwks": {"type": "inline", "keys": KeySet(list(cls.keys.values())).as_dict(private=False)["keys"]},
        })
        cls.key_count = issuer["keys"]["count"]
        key = admin("POST", "/v1/keys", {"name": "authlib", "role": "ingest"})
        cls.client_id, cls.secret = key["key"]["id"], key["secret"]

    def setUp(self):
        # An agent has few live credentials.
        self.agent = f"bot-{secrets.token_hex(4)}"
        self.subject = "pipeline"
        issuer = admin("GET", "/v1/identity/idp")["data"][0]["id"]
        admin("POST", "/v1/identity/agents", {
            "agent_id": self.agent,
            "owners": [{"type": "user", "id": "ada", "email": "ada@example.com"}],
            "federation": {"subjects": [{"idp_id": issuer, "subject": self.subject}]},
        })
        self.addCleanup(admin, "DELETE", f"/v1/identity/agents/{self.agent}")

    def token(self, alg="ES256", **claims):
        now = int(time.time())
        key = self.keys[alg]
        body = {"iss": ISSUER, "aud": self.server["token_endpoint"], "sub": self.subject, "iat": now, "exp": now + 600}
        return jwt.encode({"alg": alg, "kid": key.kid}, {**body, "jti": secrets.token_hex(8), **claims}, key)

    def session(self, method="client_secret_basic", secret=None, **more):
        return OAuth2Session(
            self.client_id,
            secret or self.secret,
            token_endpoint_auth_method=method,
            revocation_endpoint_auth_method=method,
            **more,
        )

    def exchange(self, session, **more):
        fields = {"subject_token": self.token(), **EXCHANGE, **more}
        return session.fetch_token(self.server["token_endpoint"], **fields)

    def refused(self, error, session=None, **more):
        with self.assertRaises(OAuthError) as caught:
            self.exchange(session or self.session(), **more)
        self.assertEqual(caught.exception.error, error)
        return caught.exception.description

    def test_the_metadata_are_valid_by_rfc_8414(self):
        AuthorizationServerMetadata(self.server).validate()
        self.assertEqual(self.server["issuer"], URL.replace("127.0.0.1", "localhost"))

    def test_every_key_of_a_key_set_counts_and_verifies(self):
        self.assertEqual(self.key_count, len(self.keys))
        for alg in self.keys:
            answer = self.exchange(self.session(), subject_token=self.token(alg))
            self.assertEqual(answer["agent_id"], self.agent)

    def test_a_token_is_exchanged_used_introspected_and_revoked_with_either_authentication(self):
        for method in METHODS:
            session = self.session(method, scope="authorize")
            answer = self.exchange(session)
            self.assertEqual((answer["token_type"], answer["scope"]), ("Bearer", "authorize"))
            self.assertFalse(answer.is_expired(leeway=0))
            call = lambda: session.post(f"{URL}/v1/authorize", json={"action": "docs.read"})
            self.assertEqual(call().json()["agent_id"], self.agent)
            ask = lambda: session.introspect_token(self.server["introspection_endpoint"]).json()
            self.assertEqual((ask()["active"], ask()["sub"]), (True, self.agent))
            revoked = session.revoke_token(self.server["revocation_endpoint"])
            self.assertEqual(revoked.status_code, 200)
            self.assertEqual(ask(), {"active": False})
            self.assertIn('error="invalid_token"', call().headers["WWW-Authenticate"])

    def test_an_asynchronous_client_gets_the_same(self):
        async def use():
            async with AsyncOAuth2Client(self.client_id, self.secret) as client:
                endpoint = self.server["token_endpoint"]
                answer = await client.fetch_token(endpoint, subject_token=self.token(), **EXCHANGE)
                called = await client.post(f"{URL}/v1/authorize", json={"action": "docs.read"})
                return answer["agent_id"], called.json()["agent_id"]

        self.assertEqual(asyncio.run(use()), (self.agent, self.agent))

    def test_a_public_client_is_refused_until_the_organization_takes_it(self):
        public = OAuth2Session(ORG)
        self.assertNotIn("none", self.server["token_endpoint_auth_methods_supported"])
        self.assertIn("client_id", self.refused("invalid_client", public))
        admin("PATCH", "/v1/organization", {"settings": {"keyless_exchange": True}})
        self.addCleanup(admin, "PATCH", "/v1/organization", {"settings": {"keyless_exchange": None}})
        self.assertIn("none", metadata()["token_endpoint_auth_methods_supported"])
        self.assertEqual(self.exchange(public)["agent_id"], self.agent)
        self.refused("invalid_grant", OAuth2Session("org_unknown"))

    def test_a_wrong_secret_is_an_invalid_client_at_every_endpoint_and_the_message_is_for_clients(self):
        for method in METHODS:
            wrong = self.session(method, secret=self.secret[:-1] + ("x" if self.secret[-1] != "x" else "y"))
            self.assertIn("client_secret", self.refused("invalid_client", wrong))
            for answer in (
                wrong.introspect_token(self.server["introspection_endpoint"], token="rmf_x"),
                wrong.revoke_token(self.server["revocation_endpoint"], token="rmf_x"),
            ):
                body = answer.json()
                self.assertEqual((answer.status_code, body["error"]), (401, "invalid_client"))
                self.assertIn("client_secret", body["error_description"])
                self.assertEqual(answer.headers["Content-Type"], "application/json")

    def test_other_grants_are_unsupported(self):
        session = self.session()
        self.refused("unsupported_grant_type", session, grant_type="client_credentials")
        with self.assertRaises(OAuthError) as caught:
            session.refresh_token(self.server["token_endpoint"], refresh_token="x")
        self.assertEqual(caught.exception.error, "unsupported_grant_type")

    def test_an_unacceptable_token_is_an_invalid_grant_without_a_cause(self):
        once = self.token()
        self.exchange(self.session(), subject_token=once)
        other = ECKey.generate_key("P-256", auto_kid=True)
        now = int(time.time())
        foreign = jwt.encode({"alg": "ES256", "kid": other.kid}, {"iss": ISSUER, "exp": now + 60, "iat": now}, other)
        said = {
            self.refused("invalid_grant", subject_token=token)
            for token in (once, foreign, self.token(exp=1), self.token(aud="x"), self.token(sub="x"), "x")
        }
        self.assertEqual(len(said), 1)

    def test_a_request_that_goes_too_far_names_what_is_wrong(self):
        self.assertIn("scope", self.refused("invalid_scope", scope="admin"))
        self.assertIn("target", self.refused("invalid_target", resource="https://other.test"))
        self.assertIn("subject_token", self.refused("invalid_request", subject_token=""))
        self.assertIn("actor_token", self.refused("invalid_request", actor_token="x"))
        self.assertIn("bytes", self.refused("invalid_request", subject_token="a" * 40_000))

    def test_no_refusal_is_taken_for_a_token(self):
        session = self.session()
        self.assertIn("POST", self.refused("invalid_request", session, method="GET"))
        self.assertIsNone(session.token)

    def test_a_tool_asks_remit_for_the_tokens_that_it_gets(self):
        server, session = self.server, self.session()

        class Tool(IntrospectTokenValidator):
            def introspect_token(self, token_string):
                return session.introspect_token(server["introspection_endpoint"], token=token_string).json()

        tool, answer = Tool(), self.exchange(self.session(), scope="authorize guard")
        check = lambda text, *scopes: tool.validate_token(tool.authenticate_token(text), list(scopes), None)
        check(answer["access_token"], "guard")
        with self.assertRaises(InsufficientScopeError):
            check(answer["access_token"], "scorers")
        with self.assertRaises(InvalidTokenError):
            check("rmf_unknown", "guard")


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Client)
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    version = importlib.metadata.version("authlib")
    print(json.dumps({"version": version, "checks": result.testsRun, "failed": failed}))
    sys.exit(failed > 0)
