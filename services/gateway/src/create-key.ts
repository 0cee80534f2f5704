// Makes one API key: prints the key for the caller and the entry for BATON_API_KEYS as JSON, once.
import { describeStartFailure } from '@baton/runtime'
import { SCOPES, createApiKey } from './api-keys.ts'

const [scopes, expires] = process.argv.slice(2)

if (scopes === undefined) {
  process.stderr.write(
    `usage: create-key.ts SCOPE[+SCOPE...] [YYYY-MM-DD]\n  scopes: ${SCOPES.join(', ')}\n`,
  )
  process.exit(2)
}
try {
  process.stdout.write(`${JSON.stringify(createApiKey(scopes, expires))}\n`)
} catch (error) {
  process.stderr.write(`${describeStartFailure(error as Error)}\n`)
  process.exit(2)
}
