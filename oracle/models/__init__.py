"""Language models behind one call: a request goes in, a reply comes out, and nothing is paid twice.

`protocol` says what a model is; `gemini`, `openai_compatible` and `recorded` are
models; `journal` keeps every reply, `budget` stops a run in time, `retry` outlasts a busy server
and `deadline` one that sends without an end; `catalogue` knows what well-known models cost and
take, and is data; `pieces` puts together what a gateway streams unasked, and `error_body` finds
what an error says, whatever it is wrapped in; `alias` notices who answered, `reasoning` takes out
what was only thought, and `window` keeps prompts to what a server can read; `choice` turns a text
such as "gemini:gemini-3.8-flash" into a model.
"""
