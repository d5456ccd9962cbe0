"""Who answered: not always who was asked.

A name may be routed to another model, as Google does with models that it has switched off, and is
then paid at that model's price.
"""

from __future__ import annotations

from oracle.models.catalogue import price_of, same_model
from oracle.models.prices import Price
from oracle.models.protocol import Reply
from oracle.models.told import Told


def priced_by_who_answered(
    reply: Reply, asked: str, given: Price | None, told: Told, *, listed: bool = True
) -> Reply:
    """The reply at the price of the model that answered; tells once where that is another one.

    Args:
      reply: says who answered, as far as its server does.
      asked: name of the model that was asked, with its kind ("gemini:gemini-2.5-pro").
      given: the price to use, whoever answered; None for the list price.
      told: tells it.
      listed: whether list prices apply: not on a server of one's own.
    """
    name = asked.partition(":")[2]
    who = reply.model or name
    price = given or (price_of(who) if listed else None)
    if not same_model(name, who):
        paid = f"paid at {price}" if price else "whose price is not known (give --price)"
        told.once(("answered", who), f"{asked} was asked, and {who} answered, {paid}")
    return reply if reply.cost == 0.0 else reply.priced(price)
