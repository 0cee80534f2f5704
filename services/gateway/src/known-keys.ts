// Whose key a caller holds: one of the settings, or else one of the database, as it stood at most two seconds ago. Whoever sends keys
// that nobody has costs Postgres one statement at a time, and this process a bounded memory; and where Postgres does not answer, nobody gets in.
import { codeOf, createBatcher } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { StoredApiKey } from '@baton/store'
import { identify, idOf, keyOfRow } from './api-keys.ts'
import type { ApiKey, Identified } from './api-keys.ts'

interface KnownKeysOptions {
  readonly settings: ReadonlyMap<string, ApiKey>
  /** Those of these ids that the database has. */
  readonly read: (ids: readonly string[]) => Promise<readonly StoredApiKey[]>
  readonly logger: Logger
  /** The time, in milliseconds of a clock that never jumps; the process's own by default. */
  readonly now?: () => number
}

export interface KnownKeys {
  /** Whose key an Authorization header carries; never rejects. */
  identify(authorization: string | undefined): Identified | Promise<Identified>
}

/** How long what was read is believed: that soon a revoked key is refused, and a new one taken. */
const BELIEVED_MS = 2_000
/** Ids of keys that there are, and as many of keys that there are not. */
const KEPT_MAX = 10_000
const BATCH_MAX = 500
const WAITING_MAX = 2_000

export function createKnownKeys(options: KnownKeysOptions): KnownKeys {
  const { settings, read, logger, now = () => performance.now() } = options
  const batcher = createBatcher<string, ApiKey | undefined>({
    name: 'API keys',
    maxItems: BATCH_MAX,
    maxQueued: WAITING_MAX,
    async flush(ids) {
      const rows = new Map((await read([...new Set(ids)])).map((row) => [row.id, keyOfRow(row)]))
      return ids.map((id) => rows.get(id))
    },
  })
  // Apart, so that ids which nobody has drive out no key that somebody has.
  const found = createRecent<ApiKey>(now)
  const missing = createRecent<true>(now)

  async function ask(id: string): Promise<ApiKey | undefined> {
    // What is answered later than it was true is no longer believed.
    const askedAt = now()
    const key = await batcher.add(id)
    if (key === undefined) missing.keep(id, { value: true, at: askedAt })
    else found.keep(id, { value: key, at: askedAt })
    return key
  }

  return {
    identify(authorization) {
      const id = authorization === undefined ? undefined : idOf(authorization)
      const judge = (key: ApiKey | undefined) =>
        identify({ get: () => key }, authorization, Date.now())
      if (id === undefined) return judge(undefined)
      const own = settings.get(id) ?? found.get(id)
      if (own !== undefined || missing.get(id) === true) return judge(own)
      return ask(id).then(judge, (error: unknown) => {
        logger.warn({ event: 'api_keys.unread', code: codeOf(error) })
        return { ok: false, why: 'unread' }
      })
    },
  }
}

interface Recent<Value> {
  get(id: string): Value | undefined
  keep(id: string, entry: { readonly value: Value; readonly at: number }): void
}

/** What was read in the last seconds; of too many, the latest. */
function createRecent<Value>(now: () => number): Recent<Value> {
  const entries = new Map<string, { readonly value: Value; readonly at: number }>()
  return {
    get(id) {
      const entry = entries.get(id)
      if (entry === undefined || now() - entry.at < BELIEVED_MS) return entry?.value
      entries.delete(id)
      return undefined
    },
    keep(id, entry) {
      entries.delete(id)
      entries.set(id, entry)
      const [oldest] = entries.keys()
      if (entries.size > KEPT_MAX && oldest !== undefined) entries.delete(oldest)
    },
  }
}
