// Writes openapi.json from what the gateway's routes say of themselves; with --check it only says whether the file is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { createLogger } from '@baton/runtime'
import { createKeyRing } from '@baton/sdk'
import { createMetrics } from '@baton/telemetry'
import { createGateway } from './src/gateway.ts'

const TARGET = new URL('openapi.json', import.meta.url)

/** A gateway that never starts: its routes are all that is asked of it. */
const gateway = createGateway({
  host: '127.0.0.1',
  port: 0,
  databaseUrl: 'postgres://127.0.0.1/baton',
  keyRing: createKeyRing({
    active: 'none',
    keys: [{ id: 'none', secret: Buffer.alloc(32), status: 'active' }],
  }),
  attemptsMax: 1,
  correctionMs: 1_000,
  apiKeys: new Map(),
  audit: { url: 'http://127.0.0.1:1', readToken: 'none' },
  limits: {
    rateMax: 1,
    runningMax: 1,
    connectionsMax: 1,
    connectionsPerAddressMax: 1,
    outboxMax: 1,
    outboxAgeMaxMs: 1,
  },
  metrics: createMetrics(),
  logger: createLogger({ service: 'gateway', level: 'silent' }),
})

await gateway.server.ready()
const wanted = `${JSON.stringify(gateway.server.swagger(), null, 2)}\n`
await gateway.stop()
if (wanted !== readFileSync(TARGET, 'utf8')) {
  const check = process.argv.includes('--check')
  process.stderr.write(`${check ? 'out of date' : 'written'}: services/gateway/openapi.json\n`)
  if (check) process.exitCode = 1
  else writeFileSync(TARGET, wanted)
}
