// What a discharge note says, read line by line; pure, so that each finding can be followed to the line that it stands in.

/** A heading and the lines below it. */
export interface Section {
  readonly heading: string
  readonly lines: readonly string[]
}

export interface Measurement {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly isUnusual: boolean
  /** The line that says it, word for word. */
  readonly line: string
}

export interface Medication {
  readonly name: string
  readonly dose: string
  readonly change: 'new' | 'stopped' | 'as before'
  readonly line: string
}

export interface ClinicalSummary {
  readonly problem: string
  readonly unusual: readonly string[]
  readonly changes: readonly string[]
  readonly followUp: readonly string[]
  /** Sections that a summary needs and the note does not have. */
  readonly missing: readonly string[]
}

const HEADING = /^([A-Z][A-Z ]+):$/

/** What stands above the first heading belongs to nobody and is left out. */
export function sectionsOf(note: string): readonly Section[] {
  const sections: { heading: string; lines: string[] }[] = []
  for (const line of note.split('\n').map((one) => one.trim())) {
    const heading = HEADING.exec(line)?.[1]
    if (heading !== undefined) sections.push({ heading: heading.toLowerCase(), lines: [] })
    else if (line !== '') sections.at(-1)?.lines.push(line)
  }
  return sections
}

interface Range {
  readonly what: string
  readonly pattern: RegExp
  readonly unit: string
  readonly usual: readonly [least: number, most: number]
}

const RANGES: readonly Range[] = [
  { what: 'temperature', pattern: /temperature (\d+(?:\.\d+)?) C/i, unit: 'C', usual: [36, 38] },
  { what: 'pulse', pattern: /pulse (\d+)/i, unit: '/min', usual: [50, 100] },
  { what: 'oxygen saturation', pattern: /saturation (\d+) %/i, unit: '%', usual: [94, 100] },
  {
    what: 'creatinine',
    pattern: /creatinine (\d+(?:\.\d+)?) mg/i,
    unit: 'mg/dl',
    usual: [0.5, 1.3],
  },
]

/** Each that a line states, with the line: nothing is said that the note does not say. */
export function measurementsIn(sections: readonly Section[]): readonly Measurement[] {
  return sections
    .flatMap(({ lines }) => lines)
    .flatMap((line) =>
      RANGES.flatMap(({ what, pattern, unit, usual: [least, most] }) => {
        const text = pattern.exec(line)?.[1]
        if (text === undefined) return []
        const value = Number(text)
        return [{ what, value, unit, isUnusual: value < least || value > most, line }]
      }),
    )
}

const MEDICATION = /^- (?:(new|stopped): )?([a-z]+) (\d+ mg(?: [a-z ]+)?)/i

export function medicationsIn(sections: readonly Section[]): readonly Medication[] {
  const lines = linesOf(sections, 'medication')
  return lines.flatMap((line) => {
    const [, change, name, dose] = MEDICATION.exec(line) ?? []
    if (name === undefined || dose === undefined) return []
    return [{ name, dose: dose.trim(), change: changeOf(change), line }]
  })
}

function changeOf(word: string | undefined): Medication['change'] {
  const lower = word?.toLowerCase()
  return lower === 'new' || lower === 'stopped' ? lower : 'as before'
}

const NEEDED = ['problem', 'course', 'medication', 'follow up']

/** What the next doctor must know, in the words of the note. */
export function summarise(
  sections: readonly Section[],
  measurements: readonly Measurement[],
  medications: readonly Medication[],
): ClinicalSummary {
  return {
    problem: linesOf(sections, 'problem').join(' '),
    unusual: [
      ...new Set(measurements.filter(({ isUnusual }) => isUnusual).map(({ line }) => line)),
    ],
    changes: medications.filter(({ change }) => change !== 'as before').map(({ line }) => line),
    followUp: linesOf(sections, 'follow up'),
    missing: NEEDED.filter((heading) => !sections.some((one) => one.heading === heading)),
  }
}

const linesOf = (sections: readonly Section[], heading: string): readonly string[] =>
  sections.find((one) => one.heading === heading)?.lines ?? []
