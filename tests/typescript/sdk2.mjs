// The second major version of the SDK, @modelcontextprotocol/client: as it comes, and asked to negotiate.

import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { trial } from './trial.mjs'

function connecting(mode, version) {
  return async (url, options) => {
    const client = new Client({ name: 'trial', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(url, options))
    assert.equal(client.getNegotiatedProtocolVersion(), version, `mode ${mode} must settle on ${version}`)
    return client
  }
}

await trial('sdk 2, legacy', { connect: connecting('legacy', '2025-11-25'), stream: true })
await trial('sdk 2, auto', { connect: connecting('auto', '2026-07-28'), stream: false })
