// Makes one API key: prints the key for the caller and the entry for BATON_API_KEYS as JSON, once.
import { parseArgs } from 'node:util'
import { describeStartFailure } from '@baton/runtime'
import { createApiKey, SCOPES } from './api-keys.ts'

const { values, positionals } = parseArgs({
  options: { operator: { type: 'string' }, tenant: { type: 'string' } },
  allowPositionals: true,
})
const [scopes, expires] = positionals

if (scopes === undefined) {
  process.stderr.write(
    `usage: create-key.ts SCOPE[+SCOPE...] [YYYY-MM-DD] [--operator NAME] [--tenant NAME]\n  scopes: ${SCOPES.join(', ')}\n`,
  )
  process.exit(2)
}
try {
  process.stdout.write(`${JSON.stringify(createApiKey({ scopes, expires, ...values }))}\n`)
} catch (error) {
  process.stderr.write(`${describeStartFailure(error as Error)}\n`)
  process.exit(2)
}
