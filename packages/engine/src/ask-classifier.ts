// Asks a classifier about a handoff that the scanner alone would take. Whatever becomes of the asking, the verdict is at least as
// bad as the scanner's, and the record says what was answered. No connection to a database is held meanwhile.
import type { HandoffMessage, Verdict } from '@baton/protocol'
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { listShownTexts } from '@baton/safety'
import type { SafetyVerdict } from '@baton/safety'
import type { ClaimedHandoff } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import type { Classifier, Opinion } from './classifier.ts'
import { outcomeOf, withOpinion } from './decide/classified.ts'
import type { ClassifiedSafety, ClassifierFailure } from './decide/classified.ts'
import { staysHere } from './decide/stays-here.ts'
import { judgeWorse } from './judge-claimed.ts'
import type { JudgingBy } from './judge-claimed.ts'

/** A message is at most 1 MiB; what says where its texts stand may repeat some of it. */
const SHOWN_CHARACTERS_MAX = 2 * 1_048_576

interface AskParts extends Pick<JudgingBy, 'people'> {
  readonly classifier: Classifier
  readonly metrics: Pick<Metrics, 'classifierTotal'>
}

/** What a judged handoff comes to: what is refused already is refused, and nobody is asked. Never throws. */
export async function askClassifier(
  claimed: ClaimedHandoff,
  verdict: Verdict<SafetyVerdict>,
  { classifier, metrics, people }: AskParts,
): Promise<Verdict<ClassifiedSafety>> {
  const { scan } = verdict.checks
  if (!verdict.valid || scan === null || !canBeRaised(scan)) return verdict
  const answer = await answerAbout(verdict.message, scan, { classifier, tenant: claimed.tenant })
  const classified = withOpinion(scan, { name: classifier.name, answer })
  metrics.classifierTotal[outcomeOf(classified)].inc()
  return judgeWorse(claimed, verdict, { people, scan: classified })
}

const canBeRaised = (
  scan: SafetyVerdict,
): scan is SafetyVerdict & { readonly decision: 'allow' | 'flag' } => scan.decision !== 'reject'

async function answerAbout(
  message: HandoffMessage,
  verdict: SafetyVerdict,
  { classifier, tenant }: { readonly classifier: Classifier; readonly tenant: string },
): Promise<Opinion | ClassifierFailure> {
  if (staysHere(message) && !classifier.seesAll) return 'STAYS_HERE'
  const texts = listShownTexts(message, SHOWN_CHARACTERS_MAX)
  if (texts === undefined) return 'TOO_LARGE'
  return classifier.classify({ texts, verdict }, tenant).catch(failureOf)
}

const FAILURES: Readonly<Record<string, ClassifierFailure>> = {
  BATON_TIMEOUT: 'TIMEOUT',
  BATON_BREAKER_OPEN: 'PAUSED',
  BATON_CLASSIFIER_INVALID: 'INVALID',
}

const failureOf = (error: unknown): ClassifierFailure => FAILURES[codeOf(error)] ?? 'UNAVAILABLE'

/** That calls are kept away from it, of one tenant or of all, is seen in metrics and logs from now on. */
export function watchClassifier(
  classifier: Classifier | undefined,
  { metrics, logger }: { readonly metrics: Pick<Metrics, 'breakerOpen'>; readonly logger: Logger },
): void {
  if (classifier === undefined) return
  const { name } = classifier
  const gauge = metrics.breakerOpen.with({ target: 'classifier' })
  gauge.set(0)
  const pausedFor = new Set<string | undefined>()
  classifier.onPaused((paused, tenant) => {
    if (paused) pausedFor.add(tenant)
    else pausedFor.delete(tenant)
    gauge.set(pausedFor.size === 0 ? 0 : 1)
    const whose = tenant === undefined ? { name } : { name, tenant }
    if (paused) logger.warn({ event: 'classifier.paused', ...whose })
    else logger.info({ event: 'classifier.resumed', ...whose })
  })
}
