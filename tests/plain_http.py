"""HTTP clients for servers on this machine, which have no certificates.

To read the certificates that the system trusts, as clients of httpx do, takes 30 milliseconds a client.
"""

from functools import partial

import httpx

Client = partial(httpx.Client, verify=False)
get = partial(httpx.get, verify=False)
post = partial(httpx.post, verify=False)
