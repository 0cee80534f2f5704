// A database that starts, fails over or is busy is waited for, in stated time and with words.
import { createPool as createAuditPool, inSnapshot } from '@baton/audit'
import { kindOf, namesOfServers } from '@baton/runtime'
import { createPool, inTransaction } from '@baton/store'
import pRetry from 'p-retry'
import type { Context } from '../context.ts'
import type { Databases } from './databases.ts'

/** Longer than a standby takes to be promoted. */
const WAIT_MAX_MS = 30_000
const PAUSE_MS = 500

/** Resolves when both databases take statements. Throws what the last try threw once one of them has not for 30 s. */
export async function whenAnswering(
  { adminUrls }: Pick<Databases, 'adminUrls'>,
  context: Pick<Context, 'output' | 'interrupt'>,
): Promise<void> {
  const own = { applicationName: 'baton-cli', connectionsMax: 1 }
  const store = createPool({ url: adminUrls.operational, ...own })
  const audit = createAuditPool({ url: adminUrls.audit, ...own })
  const nothing = async (): Promise<void> => undefined
  try {
    await Promise.all([
      patiently(context, adminUrls.operational, () => inTransaction(store, nothing)),
      patiently(context, adminUrls.audit, () => inSnapshot(audit, nothing)),
    ])
  } finally {
    await Promise.all([store.end(), audit.end()])
  }
}

function patiently(
  { output, interrupt: signal }: Pick<Context, 'output' | 'interrupt'>,
  url: string,
  ask: () => Promise<void>,
): Promise<void> {
  const words = `Waits for Postgres at ${namesOfServers(url)}, for at most ${WAIT_MAX_MS / 1_000} s.`
  return pRetry(ask, {
    retries: WAIT_MAX_MS / PAUSE_MS,
    factor: 1,
    minTimeout: PAUSE_MS,
    maxRetryTime: WAIT_MAX_MS,
    signal,
    shouldRetry: ({ error }) => kindOf(error) === 'transient',
    onFailedAttempt: ({ attemptNumber, error }) => {
      if (attemptNumber === 1 && kindOf(error) === 'transient') output.words(words)
    },
  })
}
