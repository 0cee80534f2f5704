// `safety explain`: a rule of the scanner in words, or what was found in a handoff that was stopped; never its text.
import { nearestNames, permanent } from '@baton/runtime'
import { createScanner, explainRule, RULE_IDS, THRESHOLDS } from '@baton/safety'
import type { RuleExplanation } from '@baton/safety'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withReadingGateway } from '../gateway-client.ts'
import { short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { findDeadLetter } from './find-dead-letter.ts'
import type { DeadLetterCase, Evidence } from './find-dead-letter.ts'

/** Throws BATON_USAGE where neither a rule nor an id is named, BATON_DEAD_LETTER_UNKNOWN where no dead letter is. */
export async function safetyExplain(context: Context, named: string): Promise<ExitCode> {
  const rule = explainRule(named) ?? BESIDE_SCANNER.find(({ id }) => id === named)
  if (rule !== undefined) return sayRule(context, rule)
  if (!/^[0-9a-f-]{1,36}$/i.test(named)) throw unknownRule(named)
  return sayDeadLetter(context, named)
}

/** What judges worse than the scanner, and is named as a rule where it stopped something. */
const BESIDE_SCANNER: readonly RuleExplanation[] = [
  {
    id: 'classifier',
    category: 'classifier',
    effects: [],
    looksFor:
      'The classifier that BATON_CLASSIFIER_URL names judged the text worse than the scanner; what it looks for it alone knows. The record of the decision names its version.',
  },
  {
    id: 'rejects-flagged',
    category: 'policy',
    effects: [],
    looksFor:
      'The agent type takes nothing that is flagged (BATON_REJECT_FLAGGED). What was flagged is named after it.',
  },
]

function unknownRule(named: string) {
  const rules = [...RULE_IDS, ...BESIDE_SCANNER.map(({ id }) => id)]
  const near = nearestNames(named, rules)
  return permanent('BATON_USAGE', `${JSON.stringify(named)} is no rule of this scanner`, {
    fix:
      near.length > 0
        ? `Did you mean ${near.join(' or ')}?`
        : `Give the id of a stopped handoff, or one of ${rules.join(', ')}.`,
  })
}

function sayRule({ output }: Context, rule: RuleExplanation): ExitCode {
  if (output.json) output.data(JSON.stringify(rule))
  else
    for (const line of [
      `${rule.id} (${rule.category})`,
      rule.looksFor,
      ...rule.effects.map(({ effect, weight }) => `${EFFECT_WORDS[effect]} Weight ${weight}.`),
    ])
      output.data(line)
  output.words(
    rule.category === 'incomplete'
      ? 'What to do: infra/runbooks/scan-incomplete.md.'
      : 'What to do: read where it was found. An attack is discarded and its sender asked; an honest text is redacted there, or released by two people.',
  )
  output.next(nextStep('dlq ls --reason SAFETY_VIOLATION'))
  return EXIT.fine
}

const FLAGS = `Flags where its weight, with that of others near it, reaches ${THRESHOLDS.flag}`

const EFFECT_WORDS: Readonly<Record<RuleExplanation['effects'][number]['effect'], string>> = {
  reject: 'Rejects alone where its weight reaches what the kind of field asks for; else it flags.',
  suspect: `${FLAGS}; rejects only beside other rules.`,
  note: `${FLAGS}; never rejects.`,
}

async function sayDeadLetter(context: Context, named: string): Promise<ExitCode> {
  const { output } = context
  const deadLetter = await withReadingGateway(context, (gateway) => findDeadLetter(gateway, named))
  const { handoffId, reason, artefactId, details } = deadLetter
  const findings = details.map((found) => ({ ...found, ...explained(found) }))
  if (output.json) output.data(JSON.stringify({ handoffId, reason, artefactId, findings }))
  else {
    output.data(`Handoff ${handoffId} was stopped: ${reason}.`)
    if (artefactId !== null) output.data(`It was judged by ${judgedBy(artefactId)}.`)
    if (findings.length > 0) output.data(`\n${table(findings)}`)
  }
  output.next(nextFor(deadLetter))
  return EXIT.fine
}

const judgedBy = (artefactId: string): string =>
  artefactId === createScanner().rulesetVersion
    ? `this ruleset, ${artefactId.slice(0, 12)}`
    : `another ruleset than that of this command line, ${artefactId.slice(0, 12)}`

interface Explained {
  readonly looksFor?: string
}

function explained({ rule = '' }: Evidence): Explained {
  const looksFor = explainRule(rule)?.looksFor
  return looksFor === undefined ? {} : { looksFor }
}

const table = (findings: readonly (Evidence & Explained)[]): string =>
  renderTable(
    [
      { title: 'RULE' },
      { title: 'WHERE', widthMax: 40 },
      { title: 'SPAN' },
      { title: 'READ AS' },
      { title: 'WHAT', widthMax: 80 },
    ],
    findings.map(({ rule = '', pointer = '', span, view = '', looksFor, message = '' }) => [
      rule,
      pointer || 'the whole message',
      span === undefined ? '' : span.join('-'),
      view,
      looksFor ?? message,
    ]),
  )

/** The text itself is read by `dlq show --text`, which puts its reader on record. */
const nextFor = ({ handoffId }: DeadLetterCase): string =>
  nextStep(`dlq show ${short(handoffId)} --text`)
