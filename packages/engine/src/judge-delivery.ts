// Judges what was claimed: small ones here, large ones and those that take long in a thread, past what people exempted, by a classifier too
// where one is set, and by the policy of the agent type. The claim is kept meanwhile.
import type { AgentRegistration, Verdict } from '@baton/protocol'
import type { SafetyVerdict } from '@baton/safety'
import { extendLeases, readClock } from '@baton/store'
import type { ClaimedHandoff, Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import type { ActiveScanner } from './active-scanner.ts'
import { askClassifier } from './ask-classifier.ts'
import type { Classifier } from './classifier.ts'
import type { ClassifiedSafety } from './decide/classified.ts'
import { exemptionsOfPair, heldExemptions } from './decide/exemptions.ts'
import type { Exemption } from './decide/exemptions.ts'
import { byPolicy, isRejectedByPolicy } from './decide/flagged.ts'
import { judgeClaimed, judgeWorse } from './judge-claimed.ts'
import type { JudgingBy } from './judge-claimed.ts'
import { LARGE_BYTES } from './large-work.ts'
import type { LargeWork } from './large-work.ts'
import type { Shadow } from './shadow-scanner.ts'

/** Beside whom, and past what, an installation has handoffs judged: by default by the scanner alone. */
export interface JudgingBeside {
  /** Who judges texts beside the scanner, and may judge them worse. */
  readonly classifier?: Classifier | undefined
  /** What people took out of the scanner's decisions, for example of `openExemptions`; asked for with each handoff. */
  readonly exemptions?: (() => readonly Exemption[]) | undefined
  /** Agent types that take nothing which is flagged, or `*`: it waits for people, like what is rejected. */
  readonly rejectFlagged?: readonly string[] | undefined
  /** Who compares what another scanner would say. */
  readonly shadow?: Shadow | undefined
}

export interface JudgeParts extends Omit<JudgingBy, 'held'>, JudgingBeside {
  readonly pool: Pool
  readonly leaseMs: number
  readonly largeWork: LargeWork
  /** The one by which large work judges as well. */
  readonly scanner: ActiveScanner
  readonly metrics: Pick<Metrics, 'classifierTotal'>
}

/** Renewals per lease, so that one lost answer does not cost it. */
const BEATS_PER_LEASE = 3

/** A scan may hold up everybody else's messages for so long. Few do: those of many words that no scan before met in such an order. */
const HERE_MAX_MS = 50

/** Undefined where its scan takes longer than that here, and says nothing of it. */
function judgeHere(
  claimed: ClaimedHandoff,
  agent: AgentRegistration,
  by: JudgingBy & Pick<JudgeParts, 'scanner'>,
): Verdict<SafetyVerdict> | undefined {
  let isTooLong = false
  const verdict = judgeClaimed(claimed, agent, {
    ...by,
    scan(message, exemptionOf) {
      const said = by.scanner.scanWithin(HERE_MAX_MS, message, exemptionOf)
      isTooLong = said === undefined
      if (said === undefined) throw new RangeError('the scan takes too long to be made here')
      return said
    },
  })
  return isTooLong ? undefined : verdict
}

/** Never rejects. Undefined where nobody can judge it now. */
type Judge = (
  claimed: ClaimedHandoff,
  agent: AgentRegistration,
) => Promise<Verdict<ClassifiedSafety> | undefined>

const none = () => []

export function createJudge(parts: JudgeParts): Judge {
  const { pool, leaseMs, largeWork, classifier, exemptions = none, shadow, metrics, people } = parts
  const rejecting = new Set(parts.rejectFlagged)

  /** By the database's clock, which nobody is asked for where no exemption is for such a handoff. */
  async function held(asked: readonly Exemption[], claimed: ClaimedHandoff) {
    if (asked.length === 0) return []
    const now = await readClock(pool).catch(() => undefined)
    return now && heldExemptions(asked, claimed, { people, now })
  }

  /** By the policy of the agent type, over what scanner and classifier came to. */
  function byOwnPolicy(
    claimed: ClaimedHandoff,
    agent: AgentRegistration,
    verdict: Verdict<ClassifiedSafety>,
  ): Verdict<ClassifiedSafety> {
    const { scan: judged } = verdict.checks
    if (!verdict.valid || judged === null) return verdict
    if (!isRejectedByPolicy(judged, agent.type, rejecting)) return verdict
    return judgeWorse(claimed, verdict, { people, scan: byPolicy(judged) })
  }

  return async (claimed, agent) => {
    const asked = exemptionsOfPair(exemptions(), claimed, agent.type)
    const isLarge = claimed.body.byteLength > LARGE_BYTES
    const isPlain = !isLarge && asked.length === 0
    const here = isPlain ? judgeHere(claimed, agent, parts) : undefined
    if (here !== undefined && classifier === undefined) {
      shadow?.compare({ claimed, agent, by: parts }, here)
      return byOwnPolicy(claimed, agent, here)
    }
    // Others may be judged before it, and a classifier takes its time.
    const keep = () => void extendLeases(pool, [claimed], leaseMs).catch(() => undefined)
    const keeping = setInterval(keep, leaseMs / BEATS_PER_LEASE)
    try {
      const holding = await held(asked, claimed)
      if (holding === undefined) return undefined
      const by = { ...parts, held: holding }
      const verdict =
        here ??
        (isLarge || isPlain ? undefined : judgeHere(claimed, agent, by)) ??
        (await largeWork.judge(claimed, agent, by))
      if (verdict === undefined) return undefined
      shadow?.compare({ claimed, agent, by }, verdict)
      const both =
        classifier === undefined
          ? verdict
          : await askClassifier(claimed, verdict, { classifier, metrics, people })
      return byOwnPolicy(claimed, agent, both)
    } finally {
      clearInterval(keeping)
    }
  }
}
