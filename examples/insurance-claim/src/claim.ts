// What a claim says, and the rules by which it is checked; pure, so that each can be followed by hand.
import { permanent } from '@baton/sdk'

/** Amounts are US cents, and null where the claim names none. */
export interface Claim {
  readonly number: string
  readonly kind: string
  /** Days are written 2012-10-18. */
  readonly insuredFrom: string
  readonly on: string
  readonly charged: number | null
  readonly diagnoses: readonly string[]
  readonly services: readonly Service[]
}

export interface Service {
  readonly code: string
  readonly on: string
  readonly charged: number | null
  readonly allowed: number | null
  /** Two letters each, which say how the service is to be judged. */
  readonly modifiers: readonly string[]
}

export interface Coverage {
  /** Null where these rules do not say. */
  readonly covered: boolean | null
  readonly why: string
}

export interface Suspicion {
  readonly score: number
  readonly signs: readonly string[]
}

export interface Charges {
  readonly claimed: number
  readonly accepted: number
  readonly cut: readonly string[]
  /** Services that no amount stands at. */
  readonly unknown: readonly string[]
}

export interface ClaimDecision {
  readonly decision: 'pay' | 'refuse' | 'ask a person'
  /** US dollars. */
  readonly amount: number
  readonly why: string
}

type Fields = ReadonlyMap<string, string>

/** A claim as the text of a Blue Button report has it. Throws BATON_CLAIM_UNREADABLE where it is none. */
export function readClaim(text: string): Claim {
  const [head = new Map<string, string>(), ...lines] = text
    .split(/^Line number:.*$/m)
    .map((part) => fieldsOf(part))
  const number = head.get('Claim Number')
  if (number === undefined || lines.length === 0) {
    throw permanent('BATON_CLAIM_UNREADABLE', 'the text has no claim number or no line', {
      fix: 'Send the text of one claim of a Blue Button report as /currentState/claim.',
    })
  }
  return {
    number,
    kind: head.get('Claim Type') ?? '',
    insuredFrom: dayOf(head.get('Part B Effective Date')),
    on: dayOf(head.get('Service Start Date')),
    charged: centsOf(head.get('Amount Charged')),
    diagnoses: valuesOf(head, 'Diagnosis Code'),
    services: lines.map(serviceOf),
  }
}

const serviceOf = (fields: Fields): Service => ({
  code: (fields.get('Procedure Code/Description') ?? '').split(' - ')[0] ?? '',
  on: dayOf(fields.get('Date of Service From')),
  charged: centsOf(fields.get('Submitted Amount/Charges')),
  allowed: centsOf(fields.get('Allowed Amount')),
  modifiers: valuesOf(fields, 'Modifier').map((value) => value.slice(0, 2)),
})

const fieldsOf = (text: string): Fields =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^([^:]+):(.*)$/.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name, value.trim()] as const]
    }),
  )

const valuesOf = (fields: Fields, prefix: string): readonly string[] =>
  [...fields].flatMap(([name, value]) => (name.startsWith(prefix) && value !== '' ? [value] : []))

const dayOf = (text = ''): string =>
  text.replace(/^(\d\d)\/(\d\d)\/(\d{4})$/, (_, month, day, year) => `${year}-${month}-${day}`)

function centsOf(text = ''): number | null {
  const amount = /^\$([\d,]+\.\d\d)$/.exec(text)?.[1]
  return amount === undefined ? null : Math.round(Number(amount.replaceAll(',', '')) * 100)
}

/** What Part B of Medicare never pays for is marked so by whoever sends the claim. */
const EXCLUDED = 'GY'
const KIND = 'PartB'

/** Whether the insurance pays for such services on that day. */
export function checkCoverage({ kind, insuredFrom, on, services }: Claim): Coverage {
  if (kind !== KIND) return { covered: null, why: `no rule for ${kind}` }
  if (on < insuredFrom) return { covered: false, why: 'the insurance was not in force' }
  const covered = services.filter(({ modifiers }) => !modifiers.includes(EXCLUDED))
  const excluded = services.length - covered.length
  if (covered.length === 0) return { covered: false, why: 'nothing of it is a benefit' }
  const besides = excluded === 0 ? '' : `, ${excluded} excluded by law`
  return { covered: true, why: `Part B was in force${besides}` }
}

const SUSPICIOUS_FROM = 50

/** Signs that somebody should look; each counts, up to 100. */
export function checkFraud({ on, charged, diagnoses, services }: Claim): Suspicion {
  const sum = services.reduce((all, one) => all + (one.charged ?? 0), 0)
  const served = services.map((one) => `${one.code} ${one.on}`)
  const found: readonly (readonly [boolean, number, string])[] = [
    [charged !== null && charged !== sum, 60, 'the lines do not add up to what is charged'],
    [new Set(served).size < served.length, 50, 'a service is charged twice on one day'],
    [services.some((one) => one.on !== on), 40, 'a service is of another day'],
    [diagnoses.length === 0, 30, 'no diagnosis says what it was for'],
  ]
  const signs = found.filter(([holds]) => holds)
  const score = signs.reduce((all, [, weight]) => all + weight, 0)
  return { score: Math.min(100, score), signs: signs.map(([, , sign]) => sign) }
}

/** What is accepted of each service: what is allowed for it, and nothing where no amount stands at it. */
export function assessCharges({ services }: Claim): Charges {
  const codesOf = (holds: (service: Service) => boolean) =>
    services.filter(holds).map(({ code }) => code)
  return {
    claimed: services.reduce((sum, { charged }) => sum + (charged ?? 0), 0),
    accepted: services.reduce((sum, { allowed }) => sum + (allowed ?? 0), 0),
    cut: codesOf(({ charged, allowed }) => (allowed ?? 0) < (charged ?? 0)),
    unknown: codesOf(({ charged, allowed }) => charged === null || allowed === null),
  }
}

export interface Checks {
  readonly coverage: Coverage
  readonly fraud: Suspicion
  readonly charges: Charges
}

/** Part B pays four fifths of what is allowed; the rest is the patient's. */
const PAID_PERCENT = 80

export function decide({ coverage, fraud, charges }: Checks): ClaimDecision {
  if (coverage.covered === null) return { decision: 'ask a person', amount: 0, why: coverage.why }
  if (!coverage.covered) return { decision: 'refuse', amount: 0, why: coverage.why }
  if (fraud.score >= SUSPICIOUS_FROM)
    return { decision: 'ask a person', amount: 0, why: fraud.signs.join('; ') }
  if (charges.unknown.length > 0) {
    const why = `${coverage.why}; no amount stands at ${charges.unknown.join(', ')}`
    return { decision: 'ask a person', amount: 0, why }
  }
  const amount = Math.round((charges.accepted * PAID_PERCENT) / 100) / 100
  const cut = charges.cut.length === 0 ? 'in full' : `less for ${charges.cut.join(', ')}`
  return { decision: 'pay', amount, why: `${coverage.why}; ${cut}, ${PAID_PERCENT} % of it` }
}
