// `keys`: the API keys of the database. A key is shown once and kept nowhere; what is stored is its digest.
import { makeApiKey, withdrawApiKey } from '@baton/engine'
import { createApiKey, parseApiKeys, scopesOfRoles } from '@baton/gateway'
import type { KeyRequest } from '@baton/gateway'
import { decides } from '@baton/http/access-tokens'
import { OPERATOR_NAME } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import { API_KEY_POSITION, countApiKeys, COUNTED_MAX, listApiKeys } from '@baton/store'
import type { ListedApiKey, Pool, StoredApiKey } from '@baton/store'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { administratorOf, asOwner, withDatabases } from '../instance/databases.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { knownPeople } from '../instance/known-people.ts'
import { cursorOf, readCursor, sayShown, typedAgain, wantedBy } from './list-pages.ts'
import type { Listed, PageFlags } from './list-pages.ts'
import { tenantUnknown } from './tenants.ts'

export interface KeyWish extends Omit<KeyRequest, 'scopes'> {
  /** `a+b`, beside those of the roles. */
  readonly scopes: string | undefined
  readonly role: readonly string[]
  readonly operator: string
  /** Any agent of its tenant where there is none. */
  readonly agent: readonly string[]
  readonly forSettings?: boolean
}

/** Exit 5 where there is no such tenant. */
export async function keysNew(context: Context, asked: KeyWish): Promise<ExitCode> {
  const { output } = context
  requireReadable(asked)
  const wish = { ...asked, scopes: scopesOf(asked) }
  const made = createApiKey(wish)
  if (wish.forSettings === true) return printEntry(context, made, wish)
  const { id, key } = made
  const who = administratorOf(context)
  const stored = { ...newKey(made, wish), madeBy: who.actor }
  if (!(await asOwner(context, (admin) => makeApiKey(admin, who, stored))))
    throw tenantUnknown(stored.tenant)
  if (output.json) output.data(JSON.stringify({ key, ...shown(stored) }))
  else output.data(key)
  output.words(
    `The line above is the key of ${stored.operator}, and is kept nowhere. Its id is ${id}.`,
  )
  const signing = await signingKeyNeeded(context, stored)
  output.next(signing ?? nextStep('keys ls'))
  return EXIT.fine
}

/** What makes decisions through this key count, where they would not yet. */
async function signingKeyNeeded(
  context: Context,
  { operator, scopes }: Pick<StoredApiKey, 'operator' | 'scopes'>,
): Promise<string | undefined> {
  const deciding = scopes.filter(decides)
  const known = [...(await knownPeople(context)).values()]
  if (deciding.length === 0 || known.some(({ person }) => person === operator)) return undefined
  const role = deciding.some((scope) => REVIEWING.has(scope)) ? 'reviewer' : 'compliance'
  const command = nextStep(`people key ${operator} --role ${role}`)
  return `${command}, since no decision of ${operator} counts without their own signature`
}

const REVIEWING: ReadonlySet<string> = new Set(['approvals:decide', 'dead-letters:review'])

// What is wrong with an entry of settings would be said in words of the entry, which nobody here has seen.
function requireReadable({ operator, expires }: KeyWish): void {
  if (operator.includes('/')) throw OPERATOR_WITH_TENANT
  if (!NAME.test(operator)) throw NO_NAME
  if (expires === undefined) return
  if (!isDay(expires)) throw NO_DAY
  if (expires <= dayOf(new Date())) throw DAY_HAS_COME
}

const NAME = new RegExp(`^${OPERATOR_NAME}$`)

// Of a day that its month does not have, the parser makes a later one.
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && Number.isFinite(date.getTime()) && dayOf(date) === text
}

const OPERATOR_WITH_TENANT = permanent('BATON_USAGE', '--operator names a tenant', {
  fix: 'Name the tenant beside it: --operator ann --tenant acme.',
})

const NO_NAME = permanent('BATON_USAGE', '--operator has other characters than a name may have', {
  fix: 'Take letters from A to Z, digits, dots, dashes and underscores, at most 64, the first of them a letter or a digit.',
})

const NO_DAY = permanent('BATON_USAGE', '--expires is no day', {
  fix: 'Write it as YYYY-MM-DD, such as 2027-06-30.',
})

const DAY_HAS_COME = permanent('BATON_USAGE', '--expires has come already', {
  fix: 'Name the first day (UTC) on which the key is refused: tomorrow or later.',
})

type Wish = Omit<KeyWish, 'scopes'> & { readonly scopes: string }

function scopesOf({ scopes, role }: KeyWish): string {
  const both = [
    ...(scopes === undefined ? [] : [scopes]),
    ...(role.length === 0 ? [] : [scopesOfRoles(role)]),
  ]
  if (both.length === 0) throw NOTHING_OPENED
  return [...new Set(both.join('+').split('+'))].join('+')
}

const NOTHING_OPENED = permanent('BATON_USAGE', 'a key without scopes opens nothing', {
  fix: 'Name scopes, as handoffs:send+handoffs:read, or a role, as --role developer.',
})

function printEntry(
  { output }: Context,
  { id, key, entry }: ReturnType<typeof createApiKey>,
  { agent }: Wish,
): ExitCode {
  if (agent.length > 0) throw AGENTS_IN_SETTINGS
  if (output.json) output.data(JSON.stringify({ id, key, entry }))
  else output.data(key)
  output.words('The line above is the key, for its caller, and is kept nowhere.')
  output.words(`Gateways get, in BATON_API_KEYS:\n  ${entry}`)
  return EXIT.fine
}

const AGENTS_IN_SETTINGS = permanent('BATON_USAGE', '--agent is for keys of the database', {
  fix: 'Leave out --for-settings, or limit what it claims: executions:claim=type|type.',
})

function newKey({ entry }: ReturnType<typeof createApiKey>, { scopes, agent }: Wish) {
  const [parsed] = parseApiKeys(entry).values()
  if (parsed === undefined) throw new TypeError('an entry is of one key')
  const { id, sha256, operator, tenant, expiresAtMs } = parsed
  return {
    id,
    sha256,
    operator,
    tenant,
    scopes: scopes.split('+'),
    agents: agent.length === 0 ? null : agent,
    expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs),
  }
}

/** Everything but the digest. */
const shown = (key: Partial<ListedApiKey>): object => ({
  ...key,
  sha256: undefined,
  position: undefined,
})

/** Those of settings are not among them. */
export async function keysLs(context: Context, flags: PageFlags): Promise<ExitCode> {
  const { output } = context
  const listed = await withDatabases(context, ({ pool }) => readKeys(pool, flags))
  const keys = listed.rows
  if (output.json) output.data(JSON.stringify(keys.map(shown)))
  else if (keys.length > 0) output.data(table(keys))
  if (listed.total === 0)
    output.words('No key was made here; gateways take those of BATON_API_KEYS alone.')
  sayShown(output, listed, `keys ls${typedAgain({ limit: flags.limit })}`)
  output.next(nextStep('keys new <scopes> --operator <name>'))
  return EXIT.fine
}

async function readKeys(pool: Pool, flags: PageFlags): Promise<Listed<ListedApiKey>> {
  const limit = wantedBy(flags)
  const cursor = flags.cursor && readCursor(flags.cursor, API_KEY_POSITION)
  // One more than is shown says whether others follow.
  const found = await listApiKeys(pool, { limit: limit + 1, cursor })
  const total = await countApiKeys(pool)
  const rows = found.slice(0, limit)
  return {
    rows,
    nextCursor: found.length > limit ? cursorOf(rows.at(-1)?.position ?? '') : null,
    total: Math.min(total, COUNTED_MAX),
    totalIsExact: total <= COUNTED_MAX,
  }
}

const table = (keys: readonly StoredApiKey[]): string =>
  renderTable(
    ['ID', 'OPERATOR', 'TENANT', 'SCOPES', 'AGENTS', 'MADE', 'ENDS'].map((title) => ({ title })),
    keys.map(({ id, operator, tenant, scopes, agents, madeBy, createdAt, ...ends }) => [
      id,
      operator,
      tenant,
      scopes.join(' '),
      agents?.join(' ') ?? 'any',
      `${dayOf(createdAt)} by ${madeBy}`,
      endOf(ends),
    ]),
  )

const dayOf = (date: Date): string => date.toISOString().slice(0, 10)

function endOf({ expiresAt, revokedAt }: Pick<StoredApiKey, 'expiresAt' | 'revokedAt'>): string {
  if (revokedAt !== null) return `revoked ${dayOf(revokedAt)}`
  return expiresAt === null ? '' : dayOf(expiresAt)
}

/** Exit 5 where there is no such key. */
export async function keysRevoke(context: Context, id: string): Promise<ExitCode> {
  const { output } = context
  const revokedAt = await asOwner(context, (admin) =>
    withdrawApiKey(admin, administratorOf(context), id),
  )
  if (output.json) output.data(JSON.stringify({ id, revokedAt: revokedAt ?? null }))
  else
    output.words(
      revokedAt === undefined
        ? `There is no key ${id} here; one of BATON_API_KEYS ends when its entry is taken out.`
        : `${id} is refused everywhere within seconds.`,
    )
  output.next(nextStep('keys ls'))
  return revokedAt === undefined ? EXIT.notFound : EXIT.fine
}
