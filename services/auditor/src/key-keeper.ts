// Keys that change while the auditor runs: nothing starts without one that is still needed, and the vault comes under the current ones
// in the background.
import { createVaultRotation, readVaultProgress, requireVaultKeys } from '@baton/audit'
import type { Pool, SubjectVault, VaultProgress } from '@baton/audit'
import { codeOf, crashPoint, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'

interface KeyKeeperOptions {
  readonly vaultDb: Pool
  readonly vault: SubjectVault
  readonly metrics: Metrics
  readonly logger: Logger
}

/** Between two sets, so that appends and erasures find the vault free. */
const NEXT_SET_MS = 50
/** What could not be moved is tried again: another held it, or nobody knows its name yet. */
const AGAIN_MS = 60_000
/** Sets between two counts of what is left. */
const SETS_COUNTED = 20

/** Throws BATON_KEY_MISSING from `start` where something in the vault is under a key that the settings do not hold. */
export function createKeyKeeper(options: KeyKeeperOptions): Service {
  const { vaultDb: db, vault, metrics, logger } = options
  const rotation = createVaultRotation({ db, vault })
  let sets = 0

  async function count(): Promise<number> {
    const progress = await readVaultProgress({ db, vault })
    for (const key of VAULT_KEYS) metrics.vaultRowsLeft.with({ key }).set(leftOf(progress[key]))
    return VAULT_KEYS.reduce((sum, key) => sum + leftOf(progress[key]), 0)
  }

  async function move(): Promise<number> {
    const moved = await rotation.step()
    crashPoint('auditor.after_vault_set')
    sets += 1
    if (moved > 0) {
      if (sets % SETS_COUNTED === 0) await count()
      return NEXT_SET_MS
    }
    const left = await count()
    if (sets > 1) logger.info({ event: 'vault.rotated', left })
    sets = 0
    const isSettled = vault.wrapping.earlier.length + vault.lookups.earlier.length === 0
    return isSettled && left === 0 ? Infinity : AGAIN_MS
  }

  const rounds = every({
    name: 'key-keeper',
    everyMs: NEXT_SET_MS,
    run: move,
    failed: (error) => {
      logger.warn({ event: 'vault.rotation_failed', code: codeOf(error), error })
      return AGAIN_MS
    },
  })

  return {
    ...rounds,
    async start() {
      await requireVaultKeys({ db, vault })
      await vault.keepRequestKeys()
      await count()
      await rounds.start()
    },
  }
}

const VAULT_KEYS = ['wrapping', 'lookup'] as const

const leftOf = ({ earlier }: VaultProgress['wrapping']): number =>
  earlier.reduce((sum, { rows }) => sum + rows, 0)
