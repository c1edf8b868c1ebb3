"""Secrets to plant in tests, one of each shape that is known."""

# Joined from parts: none of them is a key, but a scanner of this repository might take one for it.
ABC = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SECRETS = {
    "openai": "sk" + "-proj-" + ABC,
    "anthropic": "sk" + "-ant-api03-" + ABC + "-_" + ABC,
    "openrouter": "sk" + "-or-v1-" + "0f" * 32,
    "groq": "gs" + "k_" + ABC,
    "hugging face": "h" + "f_" + ABC,
    "xai": "xa" + "i-" + ABC,
    "google": "AI" + "za" + ABC[:35],
    "github": "gh" + "p_" + "0123456789abcdefghijABCDEFGHIJ012345",
    "github, fine": "github" + "_pat_" + ABC,
    "gitlab": "glp" + "at-" + ABC[:20],
    "slack": "xo" + "xb-1234567890-" + ABC,
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "stripe": "sk" + "_live_" + ABC,
    "sendgrid": "S" + "G." + ABC[:22] + "." + ABC,
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxIn0" + ".c2lnbmF0dXJlLWR1bW15",
    "databricks": "dap" + "i" + "0a" * 16,
}
