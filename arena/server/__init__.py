"""An arena for people who share no machine: an HTTP API, and one thread that plays for all of them.

`serving` opens the port, `app` answers requests, `job_runner` works on what takes long, `ledger`
keeps what was asked for.  A client is `arena.remote`, or any program that reads the description of
the API.
"""
