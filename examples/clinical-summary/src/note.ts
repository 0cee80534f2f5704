// What a clinical note says, read line by line; pure, so that each finding can be followed to the line that it stands in.

/** A heading and what stands below it: an item of a list that goes over several lines is one line here. */
export interface Section {
  readonly heading: string
  readonly lines: readonly string[]
}

export interface Measurement {
  readonly what: string
  readonly value: number
  readonly isUnusual: boolean
  /** The line that says it, word for word. */
  readonly line: string
}

export interface Medication {
  readonly name: string
  /** False for what the patient takes without this hospital having prescribed it. */
  readonly isPrescribedHere: boolean
  readonly line: string
}

export interface ClinicalSummary {
  readonly problem: string
  readonly unusual: readonly string[]
  readonly prescribed: readonly string[]
  /** What is taken beside it, in the words of the note: the next doctor may not know of it. */
  readonly fromElsewhere: readonly string[]
  readonly followUp: string
  /** Sections that a summary needs, and which the note lacks or leaves empty. */
  readonly missing: readonly string[]
}

/** What stands above the first heading says why the patient came. */
const OPENING = 'presents'

const HEADINGS = [
  'past cardiology history',
  'subjective',
  'objective',
  'active medications',
  'physical exam',
  'vitals',
  'lab studies',
  'assessment/plan',
  'impression',
  'plan',
  'fellow supervision',
]
const ELSEWHERE = 'active non-va medications'

const HEADING = /^([a-z][a-z/ ]+):\s*(.*)$/i
const ITEM = /^\d+\)/
const RULE = /^=+$/

export function sectionsOf(note: string): readonly Section[] {
  const sections: { heading: string; lines: string[] }[] = [{ heading: OPENING, lines: [] }]
  for (const line of note.split('\n').map((one) => one.trim())) {
    const [heading, rest] = headingOf(line)
    const last = sections.at(-1)
    if (heading !== undefined) sections.push({ heading, lines: rest === '' ? [] : [rest] })
    else if (line !== '' && !RULE.test(line)) addLine(last?.lines ?? [], line)
  }
  return sections
}

function headingOf(line: string): readonly [heading: string | undefined, rest: string] {
  if (line.startsWith(ELSEWHERE)) return [ELSEWHERE, '']
  const [, name = '', rest = ''] = HEADING.exec(line) ?? []
  const heading = name.toLowerCase()
  return HEADINGS.includes(heading) ? [heading, rest] : [undefined, '']
}

function addLine(lines: string[], line: string): void {
  const before = lines.at(-1)
  const goesOn = before !== undefined && ITEM.test(before) && /^[a-z(]/.test(line)
  if (goesOn) lines[lines.length - 1] = `${before} ${line}`
  else lines.push(line)
}

interface Range {
  readonly what: string
  readonly section: string
  readonly pattern: RegExp
  readonly usual: readonly [least: number, most: number]
}

const RANGES: readonly Range[] = [
  { what: 'temperature', section: 'vitals', pattern: /\[(\d+\.\d) C\]/, usual: [36, 38] },
  { what: 'systolic pressure', section: 'vitals', pattern: /^(\d+)\/\d+ \(/, usual: [90, 140] },
  { what: 'pulse', section: 'vitals', pattern: /^(\d+) \(/, usual: [50, 100] },
  { what: 'body mass index', section: 'vitals', pattern: /:\d\d +(\d+\.\d)$/, usual: [18.5, 30] },
]
/** The laboratory marks itself what is too high. */
const MARKED_HIGH = /(\d+(?:\.\d+)?) H\b/

/** Each that a line states, with the line: nothing is said that the note does not say. */
export function measurementsIn(sections: readonly Section[]): readonly Measurement[] {
  const read = RANGES.flatMap(({ what, section, pattern, usual: [least, most] }) =>
    linesOf(sections, section).flatMap((line) => {
      const text = pattern.exec(line)?.[1]
      if (text === undefined) return []
      const value = Number(text)
      return [{ what, value, isUnusual: value < least || value > most, line }]
    }),
  )
  const marked = linesOf(sections, 'lab studies').flatMap((line) => {
    const text = MARKED_HIGH.exec(line)?.[1]
    if (text === undefined) return []
    return [{ what: 'laboratory', value: Number(text), isUnusual: true, line }]
  })
  return [...read, ...marked]
}

const MEDICATION = /^\d+\) (?:Non-va )?(.+?)(?= [\d.]+mg| cap\/tab| small )/i

export function medicationsIn(sections: readonly Section[]): readonly Medication[] {
  return ['active medications', ELSEWHERE].flatMap((heading) =>
    linesOf(sections, heading).flatMap((line) => {
      const name = MEDICATION.exec(line)?.[1]
      if (name === undefined) return []
      return [{ name, isPrescribedHere: heading !== ELSEWHERE, line }]
    }),
  )
}

const NEEDED = ['subjective', 'active medications', 'vitals', 'impression', 'plan']

/** What the next doctor must know, in the words of the note. */
export function summarise(
  sections: readonly Section[],
  measurements: readonly Measurement[],
  medications: readonly Medication[],
): ClinicalSummary {
  const lines = (here: boolean) =>
    medications
      .filter(({ isPrescribedHere }) => isPrescribedHere === here)
      .map(({ line }) => line.replace(/^\d+\) /, ''))
  return {
    problem: linesOf(sections, OPENING).join(' '),
    unusual: [
      ...new Set(measurements.filter(({ isUnusual }) => isUnusual).map(({ line }) => line)),
    ],
    prescribed: lines(true),
    fromElsewhere: lines(false),
    followUp: linesOf(sections, 'plan').join(' '),
    missing: NEEDED.filter((heading) => !saysAnything(linesOf(sections, heading))),
  }
}

const saysAnything = (lines: readonly string[]): boolean =>
  lines.some((line) => /[a-z]{2}/i.test(line))

const linesOf = (sections: readonly Section[], heading: string): readonly string[] =>
  sections.find((one) => one.heading === heading)?.lines ?? []
