"""Clocks: from requests that two logs share to an offset with bounds, or honestly none.

Every shared id gives one-sided bounds, since a cause precedes its effect: a record of a
request is written after the request began and, for most kinds, before it ended. The
interval in the most agreement (Marzullo 1984, as in NTP) is the offset's. Ids alone
join; time never does, so an error of hours or a missing year needs no search window.
"""
