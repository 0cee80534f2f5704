// A process follows the file of its scanner's artefact: what is signed, newer and passes its tests judges from the next message on;
// whatever else stands there changes nothing, and is told of.
import { facts, formatVerifierKey } from '@baton/ledger'
import type { OperationDetail } from '@baton/ledger'
import { codeOf, every, permanent } from '@baton/runtime'
import type { BatonError, Logger, Service, Settings } from '@baton/runtime'
import { ARTEFACT_STEP_MAX, scannerFault } from '@baton/safety'
import { createPool, findArtefactBefore } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { scannerOf } from './active-scanner.ts'
import type { ActiveScanner } from './active-scanner.ts'
import { createArtefactLook, readArtefactSource } from './artefact-file.ts'
import { recordRuleset } from './record-ruleset.ts'
import type { JudgesBy } from './record-ruleset.ts'
import type { SAFETY_SETTINGS } from './settings.ts'
import { readArtefactKeys } from './signed-artefact.ts'
import type { OpenedArtefact } from './signed-artefact.ts'

/** Whose artefacts are taken, as the record of a process's settings says it. */
export const artefactKeyFacts = ({
  BATON_SAFETY_KEYS: entries = '',
}: Settings<typeof SAFETY_SETTINGS>): readonly OperationDetail[] =>
  facts('ARTEFACT_KEY', readArtefactKeys(entries).map(formatVerifierKey))

interface FollowParts {
  /** The kind of process, for example `receiver`. */
  readonly process: string
  readonly scanner: ActiveScanner
  /** Where they name no artefact, the scanner of the package judges, and the log is told of that alone. */
  readonly settings: Settings<typeof SAFETY_SETTINGS>
  readonly databaseUrl: string
  readonly metrics: Pick<
    Metrics,
    'safetyArtefactVersion' | 'safetyArtefactsTotal' | 'safetyFileRefused'
  >
  readonly logger: Logger
  /** Between two looks at the file; 3 s by default. */
  readonly everyMs?: number
}

const LOOK_MS = 3_000

/**
 * Its start ends when the file has been looked at once, so that a process that starts after it begins with the artefact. Nothing judges
 * before the log is sure to be told: while the database is away, the scanner stays the one it is. Throws BATON_SAFETY_KEYS_INVALID.
 */
export function followingArtefact(parts: FollowParts): Service {
  const { process, scanner, metrics, logger, everyMs = LOOK_MS } = parts
  const source = readArtefactSource(parts.settings.BATON_SAFETY_ARTEFACT_FILE, parts.settings)
  const applicationName = `baton-${process}-safety`
  const pool = createPool({ url: parts.databaseUrl, applicationName, connectionsMax: 1 })
  let active: OpenedArtefact | undefined
  let toldOf: string | undefined
  metrics.safetyArtefactVersion.set(0)

  async function tell(artefact: JudgesBy['artefact'], rulesetVersion: string): Promise<void> {
    const told = await recordRuleset(pool, { process, rulesetVersion, artefact })
    if (told === 'not_rising') throw notRising()
    toldOf = rulesetVersion
    if (told === 'told') logger.info({ event: 'safety.ruleset_recorded', process, rulesetVersion })
  }

  async function take(artefact: OpenedArtefact): Promise<void> {
    if (active !== undefined && artefact.version <= active.version) throw notRising()
    const before = await findArtefactBefore(pool, process)
    if (artefact.version > before + ARTEFACT_STEP_MAX) throw tooFarAhead(artefact.version, before)
    const candidate = scannerOf(artefact.model)
    const fault = await scannerFault(candidate, scanner)
    if (fault !== undefined) throw unfit(fault)
    await tell(artefact, candidate.rulesetVersion)
    scanner.replaceBy(candidate)
    active = artefact
    const { version, signedBy } = artefact
    metrics.safetyArtefactVersion.set(version)
    metrics.safetyArtefactsTotal.with({ outcome: 'activated' }).inc()
    const { rulesetVersion } = candidate
    logger.info({ event: 'safety.artefact_activated', version, signedBy, rulesetVersion })
  }

  const isRefused = metrics.safetyFileRefused.with({ file: 'artefact' })
  function refused({ code, message, fix }: BatonError): void {
    isRefused.set(1)
    metrics.safetyArtefactsTotal.with({ outcome: 'refused' }).inc()
    logger.error({ event: 'safety.artefact_refused', code, problem: message, fix })
  }

  const isTaken = (sha256: string) => sha256 === active?.sha256
  const mended = () => isRefused.set(0)
  const look = source && createArtefactLook(source, { isTaken, take, refused, mended })
  if (look !== undefined) isRefused.set(0)

  async function run(): Promise<number | void> {
    await look?.()
    if (toldOf !== scanner.rulesetVersion) await tell(undefined, scanner.rulesetVersion)
    return look === undefined ? Infinity : undefined
  }

  function failed(error: unknown, failures: number): void {
    if (failures === 1)
      logger.warn({ event: 'safety.ruleset_unrecorded', process, code: codeOf(error) })
  }

  const looks = every({ name: 'safety artefact', everyMs, holdsProcess: false, run, failed })
  let stopped: Promise<void> | undefined
  return {
    name: looks.name,
    async start() {
      await look?.().catch(() => undefined)
      await looks.start()
    },
    stop: () => (stopped ??= looks.stop().then(() => pool.end())),
  }
}

const notRising = (): BatonError =>
  permanent(
    'BATON_SAFETY_ARTEFACT_OLD',
    'an artefact of this version or a higher one was active here before',
    {
      fix: 'Pack it again with a higher version; to step back, pack the earlier artefact so.',
    },
  )

const tooFarAhead = (version: number, before: number): BatonError =>
  permanent(
    'BATON_SAFETY_ARTEFACT_AHEAD',
    `the artefact has version ${version}, and after version ${before} only ${before + 1} to ${before + ARTEFACT_STEP_MAX} are taken`,
    { fix: `Pack it again with \`--as-version ${before + 1}\`.` },
  )

const unfit = (fault: string): BatonError =>
  permanent('BATON_SAFETY_ARTEFACT_UNFIT', `the artefact fails its tests: ${fault}`, {
    fix: 'Train the model with these kinds of text, and pack it again with a higher version.',
  })
