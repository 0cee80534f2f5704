// What a thief finds among settings, sorted by what it may open: a secret that is added to a process is tried with the others.
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Loot {
  readonly settings: Environment
  /** URLs of every database that a stolen role may try to enter. */
  readonly databases: readonly string[]
  /** Whatever could be taken for an API key. */
  readonly tokens: readonly string[]
  /** Those of them that the auditor knows, whatever they are for. */
  readonly auditorTokens: readonly string[]
  /** Ed25519 private keys, PKCS #8 DER in base64. */
  readonly keys: readonly string[]
}

const POSTGRES = /^postgres(?:ql)?:/
const DATABASES = ['baton', 'baton_audit', 'baton_vault']
/** How Ed25519 in PKCS #8 begins, in base64. */
const PRIVATE_KEY = /^MC4CAQAwBQYDK2VwBCIEI[\w+/]+=*$/
const TOKEN = /^[\w.+/=-]{16,300}$/

/** Of Baton's own settings; what else a process is given is the machine's. */
export function sortLoot(environment: Environment, known: ReadonlySet<string>): Loot {
  const settings = Object.fromEntries(
    Object.entries(environment).filter(([name]) => /^(?:BATON|HANDOFF)_/.test(name)),
  )
  const values = [...new Set(Object.values(settings).flatMap((value) => value || []))]
  const parts = [...new Set(values.flatMap((value) => [value, ...value.split(/[,:]/)]))]
  const tokens = parts.filter(
    (part) => TOKEN.test(part) && /\D/.test(part) && !part.includes('//') && !part.startsWith('/'),
  )
  const roles = values.filter((value) => POSTGRES.test(value))
  return {
    settings,
    databases: [...new Set(roles.flatMap((url) => DATABASES.map((name) => onDatabase(url, name))))],
    tokens,
    auditorTokens: tokens.filter((token) => known.has(token)),
    keys: parts.filter((part) => PRIVATE_KEY.test(part)),
  }
}

/** The same role at another database of its server. */
export function onDatabase(url: string, name: string): string {
  const located = new URL(url)
  located.pathname = `/${name}`
  return located.href
}

export const databaseOf = (url: string): string => new URL(url).pathname.slice(1)
export const roleOf = (url: string): string => new URL(url).username

export async function connected<Result>(
  url: string,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const pool = createPool({ url, applicationName: 'thief', connectionsMax: 1 })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}
