// A lost state file, made anew: only from what an anchor outside vouches for, and only where every record still fits.
import { open, stat } from 'node:fs/promises'
import {
  inSnapshot,
  readArchivePositions,
  readLastSeal,
  readSeal,
  readSealedLog,
} from '@baton/audit'
import type { Anchor, AnchoredHead, ColdStore, Pool, SealedLog } from '@baton/audit'
import { createBatchSigner, readSealEntry, toBase64 } from '@baton/ledger'
import type { Finding, Policy, SealEntry } from '@baton/ledger'
import { kindOf, permanent, transient } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { KeyObject } from 'node:crypto'
import { anchorSeal } from './anchoring.ts'
import { ringOf } from './seal-ring.ts'
import type { SealingKey } from './seal-ring.ts'
import type { SealerOptions } from './sealer-options.ts'
import { sealedPart, signChains } from './sign-seal.ts'
import { writeState } from './state-file.ts'
import type { SealerState } from './state-file.ts'

export interface RecoverOptions {
  /** Connected as audit_sealer. */
  readonly pool: Pool
  readonly statePath: string
  readonly origin: string
  readonly signingKeys: readonly SealingKey[]
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly anchors: SealerOptions['anchors']
  readonly policy: Policy | undefined
  /** Where records stand that were dropped from the database. */
  readonly cold: ColdStore | undefined
  readonly logger: Logger
}

interface Voucher {
  readonly anchor: string
  readonly size: number
  /** Of the seal log at that size, in base64; null where the anchor tells only the size. */
  readonly root: string | null
}

export interface Recovered {
  readonly at: string
  /** Entries of the seal log, and when the newest was made. */
  readonly seals: number
  readonly sealedAt: string
  readonly records: number
  readonly vouchedBy: readonly Voucher[]
  /** The newest checkpoint of the seal log, as the sealer signed it. */
  readonly checkpoint: string
  readonly chains: SealEntry['chains']
}

/** A refusal is a value: nothing was written. */
export type Recovery =
  | { readonly kind: 'recovered'; readonly recovered: Recovered; readonly evidencePath: string }
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }

/**
 * Rebuilds the state from the database's seal log where every anchor answers, at least one knows a
 * seal, none contradicts, the newest checkpoint is signed with the sealer's key, and each sealed
 * record hashes to the signed roots. Witnesses are shown that it extends what they cosigned. What
 * was recovered stays in a file beside the state. Throws BATON_SEALER_STATE_PRESENT,
 * BATON_SEAL_KEY_NOT_IN_FORCE, BATON_SEALER_UNVOUCHED and BATON_ANCHOR_UNAVAILABLE.
 */
export async function recoverState(options: RecoverOptions): Promise<Recovery> {
  const { pool, statePath, policy, logger } = options
  if (await exists(statePath)) throw present(statePath)
  const rebuilt = await rebuildState(options)
  if (rebuilt.kind === 'refused') return refused(rebuilt.findings, logger)
  const { state, log, entry, anchors, vouchedBy } = rebuilt
  const shown = await anchorSeal(state, { pool, anchors, policy, logger })
  if (shown.conflict !== undefined) return refused([conflict(state, shown.conflict)], logger)
  const away = anchors.find(({ name }) => shown.anchored[name] === undefined)
  if (away !== undefined) throw unavailable(away.name)
  const recovered = describe(log, { state, entry, vouchedBy })
  const evidencePath = await keepEvidence(statePath, recovered)
  await writeState(statePath, { ...state, anchored: shown.anchored })
  const { seals, records } = recovered
  logger.warn({ event: 'seal.state_recovered', seals, records, vouchedBy, evidencePath })
  return { kind: 'recovered', recovered, evidencePath }
}

type Rebuilt =
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }
  | {
      readonly kind: 'rebuilt'
      readonly state: SealerState
      readonly log: SealedLog
      readonly entry: SealEntry
      readonly anchors: readonly Anchor[]
      readonly vouchedBy: readonly Voucher[]
    }

/** Reads and asks only; throws as `recoverState` does. */
export async function rebuildState(
  options: Pick<
    RecoverOptions,
    'pool' | 'origin' | 'signingKeys' | 'batchKeys' | 'anchors' | 'cold'
  >,
): Promise<Rebuilt> {
  const { pool, origin, signingKeys } = options
  if (options.cold === undefined) await requireHotLog(pool)
  const claimed = await readClaimed(pool)
  const ring = ringOf(signingKeys, origin, claimed)
  const anchors = options.anchors({ anchored: () => ({}), ring: () => ring })
  const heads = await askAll(anchors)
  const log = await inSnapshot(pool, (snapshot) =>
    readSealedLog(snapshot, {
      trust: { publicKey: publicKeyOf(ring.current), anchors: heads.map(answered) },
      batchKeys: options.batchKeys,
      cold: options.cold,
    }),
  )
  if (log.findings.length > 0) return { kind: 'refused', findings: log.findings }
  const vouchedBy = heads.flatMap(({ name, head }) => (head?.size ? [voucherOf(name, head)] : []))
  const entry = log.last && readSealEntry(log.last.body)
  if (entry === undefined || vouchedBy.length === 0) throw unvouched(log.tree.size)
  const state = stateOf(log, entry, ring.current.pkcs8)
  return { kind: 'rebuilt', state, log, entry, anchors, vouchedBy }
}

interface AskedAnchor {
  readonly name: string
  readonly head: AnchoredHead | undefined
}

/** All of them must answer; what cannot get better by itself is told first. */
async function askAll(anchors: readonly Anchor[]): Promise<readonly AskedAnchor[]> {
  const asked = await Promise.allSettled(anchors.map((anchor) => anchor.latest()))
  const failed = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failed.length > 0) throw failed.find((error) => kindOf(error) === 'permanent') ?? failed[0]
  return anchors.map(({ name }, at) => {
    const one = asked[at] as PromiseFulfilledResult<AnchoredHead | undefined>
    return { name, head: one.value }
  })
}

const answered = ({ name, head }: AskedAnchor) => ({ name, latest: async () => head })

const voucherOf = (anchor: string, { size, root }: AnchoredHead): Voucher => ({
  anchor,
  size,
  root: root === null ? null : toBase64(root),
})

function stateOf(log: SealedLog, { at, tasks }: SealEntry, signingKey: string): SealerState {
  const { body, note, seq } = log.last as NonNullable<SealedLog['last']>
  return {
    tree: log.tree.state(),
    chains: log.chains.map(sealedPart),
    // Checkpoints of these very trees were signed before; the signature is the same again.
    seal: { seq, at, body, note, chains: signChains(log.chains, signingKey) },
    anchored: {},
    // The map is made anew, and until then seals commit to the one of before.
    tasks: tasks && { sealed: tasks, chains: undefined },
    handovers: log.keys.handovers.map((handover) => handover.entry),
  }
}

/** What the database says of the keys: good for asking anchors, and judged with everything else that it says. */
async function readClaimed(
  pool: Pool,
): Promise<Pick<SealerState, 'seal' | 'handovers'> | undefined> {
  const last = await readLastSeal(pool)
  const entry = last && readSealEntry(last.body)
  if (last === undefined || entry === undefined) return undefined
  const handovers: SealEntry[] = []
  for (const seq of entry.handovers ?? []) {
    const row = await readSeal(pool, seq)
    const handover = row && readSealEntry(row.body)
    if (handover !== undefined) handovers.push(handover)
  }
  return { seal: { ...last, at: entry.at, chains: [] }, handovers }
}

const publicKeyOf = ({ pkcs8 }: SealingKey): KeyObject => createBatchSigner(pkcs8).publicKey

function describe(
  log: SealedLog,
  parts: Pick<Recovered, 'vouchedBy'> & { readonly state: SealerState; readonly entry: SealEntry },
): Recovered {
  const { state, entry, vouchedBy } = parts
  return {
    at: new Date().toISOString(),
    seals: log.tree.size,
    sealedAt: entry.at,
    records: log.chains.reduce((sum, { end }) => sum + end.size, 0),
    vouchedBy,
    checkpoint: state.seal.note,
    chains: entry.chains,
  }
}

/** Never over another one: each recovery leaves its own file. */
async function keepEvidence(statePath: string, recovered: Recovered): Promise<string> {
  const path = `${statePath}.recovered-${recovered.at.replaceAll(':', '')}.json`
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify({ v: 1, ...recovered }, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return path
}

const FINDINGS_LOGGED_MAX = 10

function refused(findings: readonly Finding[], logger: Logger): Recovery {
  const shown = findings.slice(0, FINDINGS_LOGGED_MAX)
  logger.error({ event: 'seal.recovery_refused', findings: shown })
  return { kind: 'refused', findings }
}

const conflict = ({ seal }: SealerState, message: string): Finding => ({
  origin: 'seals',
  seq: seal.seq,
  rule: 'SEAL_ANCHOR',
  message,
})

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

async function requireHotLog(pool: Pool): Promise<void> {
  const positions = [...(await readArchivePositions(pool)).values()]
  if (positions.every(({ hotFrom }) => hotFrom === 0)) return
  throw permanent('BATON_SETTINGS_INVALID', 'records stand in a cold store, and none is named', {
    fix: 'Set BATON_COLD_FOLDER, or BATON_COLD_S3_BUCKET and what belongs to it, as the archiver has them.',
  })
}

const present = (path: string) =>
  permanent('BATON_SEALER_STATE_PRESENT', `there is a state file: ${path}`, {
    fix: 'Start the sealer. If it refuses the file as damaged or too old, move the file away, keep it, and recover again.',
  })

const unvouched = (seals: number) =>
  permanent(
    'BATON_SEALER_UNVOUCHED',
    seals === 0
      ? 'neither the database nor an anchor knows a seal'
      : `the database has ${seals} seals, and nothing outside it vouches for any of them`,
    {
      fix:
        seals === 0
          ? 'If nothing was ever sealed, start the sealer: it begins the log. Otherwise treat this as tampering.'
          : 'Restore the anchor file from a copy, or name the witness or bucket that has seen this log. Nothing is signed before.',
    },
  )

const unavailable = (name: string) =>
  transient('BATON_ANCHOR_UNAVAILABLE', `the anchor ${name} did not take the newest seal`, {
    fix: 'Check its file, URL and key, and recover again; nothing was written.',
  })
