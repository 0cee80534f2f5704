// What a lawyer would point at, given the clauses of a licence: burdens, gaps and contradictions.
import type { ClauseKind } from './clause-kinds.ts'
import type { Issue } from './review-state.ts'

type Judgement = Omit<Issue, 'clauses'>

interface PresenceRule extends Judgement {
  readonly present: ClauseKind
  /** The rule does not hold where this kind is there as well. */
  readonly unless?: ClauseKind
}

/** Burdens that a clause brings. */
export const PRESENCE_RULES: readonly PresenceRule[] = [
  {
    present: 'networkCopyleft',
    flag: 'network-copyleft',
    likelihood: 5,
    consequence: 5,
    why: 'Offering a service counts as distribution, so own source must be published.',
  },
  {
    present: 'strongCopyleft',
    flag: 'strong-copyleft',
    likelihood: 4,
    consequence: 5,
    why: 'Own code that builds on it must be published under the same licence when distributed.',
  },
  {
    present: 'weakCopyleft',
    flag: 'weak-copyleft',
    likelihood: 3,
    consequence: 3,
    why: 'Changes to the licensed files must be published.',
  },
  {
    present: 'nonCommercial',
    flag: 'non-commercial',
    likelihood: 5,
    consequence: 5,
    why: 'Commercial use is not licensed.',
  },
  {
    present: 'noDerivatives',
    flag: 'no-derivatives',
    likelihood: 3,
    consequence: 4,
    why: 'Patches may not be applied.',
  },
  {
    present: 'fieldOfUse',
    flag: 'field-of-use',
    likelihood: 2,
    consequence: 4,
    why: 'The forbidden purposes are vague and bind customers too.',
  },
  {
    present: 'indemnity',
    flag: 'indemnity',
    likelihood: 1,
    consequence: 3,
    why: 'Offering a warranty means paying for claims against the contributors.',
  },
  {
    present: 'patentRetaliation',
    flag: 'patent-retaliation',
    likelihood: 1,
    consequence: 3,
    why: 'The patent licence is lost when patents are enforced.',
  },
  {
    present: 'advertising',
    flag: 'advertising-clause',
    likelihood: 3,
    consequence: 3,
    why: 'Every advertisement has to name the authors.',
  },
  {
    present: 'termination',
    unless: 'cure',
    flag: 'termination-without-cure',
    likelihood: 2,
    consequence: 3,
    why: 'A breach ends the licence and no time to heal it is given.',
  },
  {
    present: 'unilateralChange',
    flag: 'terms-may-change',
    likelihood: 2,
    consequence: 2,
    why: 'Later versions of the terms may be stricter.',
  },
  {
    present: 'governingLaw',
    flag: 'governing-law',
    likelihood: 1,
    consequence: 2,
    why: 'Disputes may have to be fought abroad.',
  },
  {
    present: 'exportControl',
    flag: 'export-control',
    likelihood: 1,
    consequence: 3,
    why: 'Export rules restrict who may receive it.',
  },
  {
    present: 'changesStated',
    flag: 'state-changes',
    likelihood: 2,
    consequence: 1,
    why: 'Changed files must be marked.',
  },
  {
    present: 'attribution',
    flag: 'keep-notices',
    likelihood: 3,
    consequence: 1,
    why: 'Notices are easily lost when code is bundled.',
  },
]

interface AbsenceRule extends Judgement {
  readonly absent: ClauseKind
  /** The gap does not matter where one of these is there. */
  readonly unless: readonly ClauseKind[]
}

/** Gaps. */
export const ABSENCE_RULES: readonly AbsenceRule[] = [
  {
    absent: 'grant',
    unless: ['weakCopyleft', 'strongCopyleft'],
    flag: 'no-grant',
    likelihood: 4,
    consequence: 5,
    why: 'No sentence grants a right to use the software, and without one everything is reserved.',
  },
  {
    absent: 'patentGrant',
    unless: [],
    flag: 'no-patent-grant',
    likelihood: 1,
    consequence: 3,
    why: 'Patents of the contributors are not licensed expressly.',
  },
  {
    absent: 'warrantyDisclaimer',
    unless: [],
    flag: 'no-warranty-disclaimer',
    likelihood: 1,
    consequence: 2,
    why: 'Whether defects are answered for is left to the law of the place.',
  },
  {
    absent: 'liabilityLimit',
    unless: [],
    flag: 'unlimited-liability',
    likelihood: 2,
    consequence: 3,
    why: 'Liability is not limited for anybody who passes the software on.',
  },
]

interface ConflictRule extends Judgement {
  readonly both: readonly [RegExp, RegExp]
}

/** Licences that cannot be obeyed together in one work; matched against the SPDX expression. */
export const CONFLICT_RULES: readonly ConflictRule[] = [
  {
    both: [/\bApache-2\.0\b/, /(?:^|\s)GPL-2\.0\b/],
    flag: 'conflict-apache-gpl2',
    likelihood: 4,
    consequence: 5,
    why: 'The patent terms of Apache-2.0 are further restrictions, which GPL-2.0 forbids.',
  },
  {
    both: [/\bBSD-4-Clause\b/, /(?:^|\s)A?GPL-[23]\.0\b/],
    flag: 'conflict-advertising-gpl',
    likelihood: 4,
    consequence: 4,
    why: 'The advertising clause is a further restriction, which the GPL forbids.',
  },
]

/** A file with several licences must be obeyed as a whole. */
export const SEVERAL_LICENCES: Judgement = {
  flag: 'several-licences',
  likelihood: 2,
  consequence: 2,
  why: 'Parts stand under different licences; which part is which has to be looked up.',
}

/** No known licence: the text has to be read by a person. */
export const UNKNOWN_LICENCE: Judgement = {
  flag: 'unknown-licence',
  likelihood: 3,
  consequence: 3,
  why: 'The wording is that of no licence known here.',
}
