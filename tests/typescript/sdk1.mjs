// The first major version of the SDK, @modelcontextprotocol/sdk: initialize and sessions.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { trial } from './trial.mjs'

async function connect(url, options) {
  const client = new Client({ name: 'trial', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(url, options))
  return client
}

await trial('sdk 1', { connect, stream: true })
