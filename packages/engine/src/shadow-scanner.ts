// A candidate of the scanner judges beside the one that is active: in a thread of its own, afterwards, and without a say. Where it decides
// otherwise is counted and kept, never a text of a message.
import type { AgentRegistration, Verdict } from '@baton/protocol'
import { codeOf, createThreads, every } from '@baton/runtime'
import type { Logger, Service, Settings } from '@baton/runtime'
import type { SafetyVerdict } from '@baton/safety'
import { addShadowDifferences, createPool } from '@baton/store'
import type { ClaimedHandoff, ShadowDifference } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { scannerOf } from './active-scanner.ts'
import { createArtefactLook, readArtefactSource } from './artefact-file.ts'
import type { ArtefactSource } from './artefact-file.ts'
import type { JudgingBy } from './judge-claimed.ts'
import { LARGE_WORK } from './large-work-bounds.ts'
import { judgeTask } from './large-work.ts'
import type { LargeResult, LargeTask } from './large-work-thread.ts'
import type { SAFETY_SETTINGS } from './settings.ts'

/** Has what was judged be judged by the candidate too. */
export interface Shadow {
  /** Never waits and never throws; where as many wait as may, this one is left out and counted. */
  compare(judged: JudgedHandoff, verdict: Verdict<SafetyVerdict>): void
}

export interface JudgedHandoff {
  readonly claimed: ClaimedHandoff
  readonly agent: AgentRegistration
  readonly by: JudgingBy
}

interface ShadowParts {
  readonly settings: Settings<typeof SAFETY_SETTINGS>
  readonly databaseUrl: string
  readonly metrics: Pick<Metrics, 'safetyShadowTotal'>
  readonly logger: Logger
  /** Between two looks at the file; 3 s by default. */
  readonly everyMs?: number
}

interface Candidate {
  readonly sha256: string
  readonly version: number
  readonly scanner: ReturnType<typeof scannerOf>
}

const LOOK_MS = 3_000
/** Messages that wait for the thread, and of one tenant. */
const WAITING = { waitingMax: 64, waitingShareMax: 16 }
/** Differences that wait to be written; what comes beyond them is counted and not listed. */
const UNWRITTEN_MAX = 256

/** Where no candidate is named, nothing is compared. Throws BATON_SAFETY_KEYS_INVALID. */
export function createShadow({
  settings,
  databaseUrl,
  metrics,
  logger,
  everyMs = LOOK_MS,
}: ShadowParts): Shadow & Service {
  const source = readArtefactSource(settings.BATON_SAFETY_SHADOW_FILE, settings)
  const pool = createPool({ url: databaseUrl, applicationName: 'baton-shadow', connectionsMax: 1 })
  const threads = createThreads<LargeTask, LargeResult>({
    module: new URL('large-work-thread.ts', import.meta.url),
    threadsMax: 1,
    endMs: LARGE_WORK.endMs,
    ...WAITING,
  })
  const candidate = createCandidate(source, logger)
  let unwritten: ShadowDifference[] = []

  async function write(): Promise<void> {
    const set = unwritten
    if (set.length === 0) return
    await addShadowDifferences(pool, set)
    unwritten = unwritten.slice(set.length)
  }

  async function judge(
    { claimed, agent, by }: JudgedHandoff,
    active: SafetyVerdict,
    { scanner, version }: Candidate,
  ): Promise<void> {
    const task = judgeTask(claimed, agent, { by, scanner })
    const outcome = await threads.run(claimed.tenant, task)
    const shadow =
      outcome.kind === 'done' && outcome.result.work === 'judge'
        ? outcome.result.verdict.checks.scan
        : null
    const decided = shadow?.decision ?? 'none'
    metrics.safetyShadowTotal.with({ active: active.decision, candidate: decided }).inc()
    if (shadow === null || shadow.decision === active.decision) return
    if (unwritten.length < UNWRITTEN_MAX)
      unwritten = [...unwritten, differenceOf(claimed, { active, shadow, version })]
  }

  const writes = every({
    name: 'safety shadow',
    everyMs,
    holdsProcess: false,
    run: async () => {
      if (candidate.look === undefined) return Infinity
      await candidate.look()
      return write()
    },
    failed: (error, failures) => {
      if (failures === 1) logger.warn({ event: 'safety.shadow_unwritten', code: codeOf(error) })
    },
  })
  let stopped: Promise<void> | undefined
  return {
    name: writes.name,
    compare(judged, { checks: { scan } }) {
      const current = candidate.current()
      if (current === undefined || scan === null) return
      if (current.scanner.rulesetVersion === scan.rulesetVersion) return
      judge(judged, scan, current).catch((error: unknown) => {
        logger.warn({ event: 'safety.shadow_failed', code: codeOf(error) })
      })
    },
    async start() {
      await candidate.look?.()
      await writes.start()
    },
    stop: () =>
      (stopped ??= threads
        .close()
        .then(() => writes.stop())
        .then(() => write().catch(() => undefined))
        .then(() => pool.end())),
  }
}

/** The candidate that the file holds; undefined while it holds none that a trusted key has signed. */
function createCandidate(source: ArtefactSource | undefined, logger: Logger) {
  let current: Candidate | undefined
  const look =
    source &&
    createArtefactLook(source, {
      isTaken: (sha256) => sha256 === current?.sha256,
      take({ version, model, sha256 }) {
        current = { version, sha256, scanner: scannerOf(model) }
        const { rulesetVersion } = current.scanner
        logger.info({ event: 'safety.shadow_begun', version, rulesetVersion })
      },
      refused({ code, message, fix }) {
        current = undefined
        logger.warn({ event: 'safety.shadow_none', code, problem: message, fix })
      },
    })
  return { current: () => current, look }
}

interface Compared {
  readonly active: SafetyVerdict
  readonly shadow: SafetyVerdict
  readonly version: number
}

const differenceOf = (
  { handoffId, taskId, tenant }: ClaimedHandoff,
  { active, shadow, version }: Compared,
): ShadowDifference => ({
  handoffId,
  taskId,
  tenant,
  candidateVersion: version,
  candidateRuleset: shadow.rulesetVersion,
  activeRuleset: active.rulesetVersion,
  activeDecision: active.decision,
  candidateDecision: shadow.decision,
  activeRules: rulesOf(active),
  candidateRules: rulesOf(shadow),
})

const rulesOf = ({ findings }: SafetyVerdict): string =>
  [...new Set(findings.map(({ ruleId }) => ruleId))].toSorted().join(' ')
