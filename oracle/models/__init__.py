"""Language models behind one call: a request goes in, a reply comes out, and nothing is paid twice.

`protocol` says what a model is; `gemini`, `openai_compatible`, `recorded` and `scripted` are
models; `journal` keeps every reply, `budget` stops a run in time, `retry` outlasts a busy server,
`prices` knows what a token costs; `choice` turns a text such as "gemini:gemini-2.5-pro" into one.
"""
