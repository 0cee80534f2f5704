// What people decided, as their own signatures say: held against the people of the reader's policy.
import { detached } from '../../bytes.ts'
import { createDecisionJudge } from '../../judge-decisions.ts'
import type { DecisionFinding } from '../../judge-decisions.ts'
import type { Check } from '../checks.ts'
import type { CheckLog } from '../report.ts'

export const checkDecisions: Check = ({ evidence: { policy }, log }) => {
  const { people } = policy
  /** Tasks whose first record is here; an erasure is one of its own. */
  const begun = new Set<string>()
  const judge = createDecisionJudge({ people, isWhole: ({ taskId }) => begun.has(taskId) })
  const found: DecisionFinding[] = []
  return {
    record({ body }) {
      if (body === undefined) return
      if (body.taskSeq === 0) begun.add(detached(body.taskId))
      found.push(...judge.next(body).findings)
    },
    end() {
      found.push(...judge.finish())
      const decisions = Object.values(judge.tally()).some((count) => count > 0)
      if (people.size > 0) for (const finding of found) write(finding, log)
      else if (decisions || found.length > 0)
        log.skip('your policy names nobody whose decisions count')
    },
  }
}

/** Who decided it cannot be said where the key is none that is named: then it is not proven, and not tampering. */
function write({ origin, seq, kind, message }: DecisionFinding, log: CheckLog): void {
  if (kind === 'wrong') log.fail({ origin, seq }, message)
  else log.lack({ origin, seq }, message)
}
