// What `env` tells programs of one's own: which variables there are, and that commands take none of them from the shell they stand in.
import { permanent } from '@baton/runtime'
import type { Environment } from './context.ts'
import { quoted } from './terminal/next-steps.ts'

/** Says that the others were printed by `env`. */
export const PRINTED_BY_ENV = 'BATON_PRINTED_BY_ENV'

/** All that a program may need; those in upper half are enough over HTTP, the rest is for the SDK. */
export const PROGRAM_NAMES = [
  'BATON_GATEWAY_URL',
  'BATON_API_KEY',
  'BATON_PERSON_KEY',
  'BATON_TENANT',
  'BATON_TLS_CA_FILE',
  'BATON_TLS_CERT_FILE',
  'BATON_TLS_KEY_FILE',
  'BATON_ALLOW_PLAINTEXT',
  'BATON_DATABASE_URL',
  'BATON_REDIS_URL',
  'BATON_SIGNING_KEYS',
  'BATON_AUDIT_URL',
  'BATON_AUDIT_APPEND_TOKEN',
  'BATON_PEOPLE',
] as const
export type ProgramName = (typeof PROGRAM_NAMES)[number]

/**
 * The environment of a command. Where `env` was evaluated in its shell, what that printed is left out: an instance that was started
 * anew listens elsewhere, and the command knows where.
 */
export function withoutPrinted(environment: Environment): Environment {
  if ((environment[PRINTED_BY_ENV] ?? '') === '') return environment
  const printed = new Set(PROGRAM_NAMES.flatMap((name) => [name, `${name}_FILE`]))
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !printed.has(name as ProgramName)),
  )
}

/** What each reader of double quotes puts something else for. */
const EXPANDED = /["$`\\\n]/

/** As Node, compose and shells read it alike. Throws BATON_USAGE for what no quotes hold for all of them. */
export function dotenvValue(name: string, value: string): string {
  if (!value.includes("'")) return quoted(value)
  if (!EXPANDED.test(value)) return `"${value}"`
  throw permanent('BATON_USAGE', `${name} has an apostrophe and what shells expand`, {
    fix: 'Leave out --format: lines for a shell hold it.',
  })
}
