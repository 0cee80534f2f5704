// Before the first seal: nobody outside may know more of the seal log than the state file does.
import { readLastSeal, requireFinishedRestore } from '@baton/audit'
import type { Anchor, AnchoredHead, Pool } from '@baton/audit'
import { compactRangeFromState, equalBytes } from '@baton/ledger'
import { codeOf, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import pRetry from 'p-retry'
import type { SealerState } from './state-file.ts'

interface StartParts {
  readonly pool: Pool
  readonly anchors: readonly Anchor[]
  readonly logger: Logger
}

/**
 * Throws BATON_SEALER_STATE_LOST or BATON_SEALER_STATE_BEHIND when the database or an anchor knows a
 * longer seal log, BATON_SEAL_FORKED when it knows another one of the same size, BATON_ANCHOR_FORGOT when an anchor knows less than it
 * had kept, and BATON_RESTORE_UNFINISHED where the log was put back and nobody has said that it is what it should be. Without a state every anchor must answer; with one, those that do not answer are asked again with the next seal.
 */
export async function checkStart(
  state: SealerState | undefined,
  { pool, anchors, logger }: StartParts,
): Promise<void> {
  await requireFinishedRestore(pool)
  const last = await readLastSeal(pool)
  compare(state, { name: 'the audit database', head: last && { size: last.seq + 1, root: null } })
  for (const anchor of anchors) {
    try {
      const head = await anchor.latest()
      compare(state, { name: `the anchor ${anchor.name}`, head })
      requireMemory(state?.anchored[anchor.name]?.size ?? 0, { name: anchor.name, head })
    } catch (error) {
      const isAway = codeOf(error) === 'BATON_ANCHOR_UNAVAILABLE'
      if (!isAway || state === undefined) throw error
      logger.warn({ event: 'seal.anchor_failed', anchor: anchor.name, error })
    }
  }
}

const ANCHORS_WAIT_MS = 15_000
const ASK_AGAIN_MS = 250

/** `checkStart`, repeated while an anchor that must answer is still starting itself. */
export const checkStartPatiently = (
  state: SealerState | undefined,
  parts: StartParts,
): Promise<void> =>
  pRetry(() => checkStart(state, parts), {
    retries: ANCHORS_WAIT_MS / ASK_AGAIN_MS,
    maxRetryTime: ANCHORS_WAIT_MS,
    minTimeout: ASK_AGAIN_MS,
    factor: 1,
    shouldRetry: ({ error }) => codeOf(error) === 'BATON_ANCHOR_UNAVAILABLE',
  })

function compare(
  state: SealerState | undefined,
  { name, head }: { name: string; head: AnchoredHead | undefined },
): void {
  if (head === undefined || head.size === 0) return
  if (state === undefined) throw lost(name, head.size)
  if (head.size > state.tree.size) throw behind(name, state.tree.size, head.size)
  const isSame = head.size === state.tree.size && head.root !== null
  if (isSame && !equalBytes(head.root, compactRangeFromState(state.tree).root())) {
    throw forked(name, head.size)
  }
}

/** An anchor that was emptied would keep whatever it is shown next: what it had kept before is what no database can take back. Throws BATON_ANCHOR_FORGOT. */
export function requireMemory(
  kept: number,
  { name, head }: { readonly name: string; readonly head: AnchoredHead | undefined },
): void {
  const size = head?.size ?? 0
  if (size >= kept) return
  throw permanent(
    'BATON_ANCHOR_FORGOT',
    `the anchor ${name} knows a seal log of ${size} entries, and had kept ${kept}`,
    {
      fix: 'Restore the anchor, and ask who emptied it. Where it is another one on purpose, start the sealer once with BATON_SEAL_ANCHOR_FIRST_START=1.',
    },
  )
}

const RESTORE =
  'Restore the state file from a copy that is as new as the newest seal, or let `recover` make it anew: infra/README.md, “The sealer does not start” (`npm run baton -- audit recover-seals` where the instance is embedded). Nothing is signed before.'

const lost = (name: string, size: number) =>
  permanent(
    'BATON_SEALER_STATE_LOST',
    `${name} knows a seal log of ${size} entries, and there is no state file`,
    { fix: RESTORE },
  )

const behind = (name: string, own: number, size: number) =>
  permanent(
    'BATON_SEALER_STATE_BEHIND',
    `${name} knows a seal log of ${size} entries, the state file ends at ${own}`,
    { fix: RESTORE },
  )

const forked = (name: string, size: number) =>
  permanent('BATON_SEAL_FORKED', `${name} knows another seal log of ${size} entries`, {
    fix: 'Two sealers signed with one key, or the key was stolen. Keep both logs as evidence, and ask who holds the key.',
  })
