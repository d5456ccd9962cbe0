"""Our own faults in running untrusted code.  What a policy does wrong is data (`Fault`)."""


class SandboxError(Exception):
    """Root of the sandbox's errors."""


class SandboxUnavailable(SandboxError):
    """The box could not be started, or broke.  Nothing is known about what it was playing."""


class SandboxRefused(SandboxError):
    """No wall that is strong enough for this code is present; the message says what to do."""
