// Adds the Authorization header to each request for the server under test, as the conformance suite has no option for
// it. Given to `node --import`; the server's URL and a KEY are in the environment.

import { subscribe } from 'node:diagnostics_channel'

const { hostname, origin } = new URL(process.env.URL)
const authorization = `Bearer ${process.env.KEY}`

// fetch, and undici used by itself.
subscribe('undici:request:create', ({ request }) => {
  if (request.origin === origin) request.addHeader('Authorization', authorization)
})

// node:http and node:https. `host` is where they connect to; the header Host may say something else on purpose.
subscribe('http.client.request.created', ({ request }) => {
  if (request.host === hostname) request.setHeader('Authorization', authorization)
})
