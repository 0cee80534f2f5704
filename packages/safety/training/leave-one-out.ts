// Measures the scanner on sources that its model has not learned from: each in turn is left out of the training.
import { ROOT_ONE } from '../src/model/windows.ts'
import type { Model } from '../src/model/model.ts'
import { normalise } from '../src/normalise.ts'
import { createScanner } from '../src/scanner.ts'
import type { SafetyDecision } from '../src/verdict.ts'
import type { CorpusRow } from './corpus.ts'
import { writtenExamples } from './examples.ts'
import type { WrittenExample } from './examples.ts'
import { gramsOf, heaviestWindow, trainModel } from './train.ts'
import type { Example, Grams, Trained } from './train.ts'

/** One byte each: 256 KiB. */
const WEIGHTS_COUNT = 1 << 18
const WEAK_SHARE = 0.2
/** An ordinary text that is taken for an attack costs more than an attack that is not found. */
const ORDINARY_SHARE = 3
/** Of ordinary texts of sources that were left out. */
export const FLAGGED_SHARE = 0.002
export const REJECTED_SHARE = 0.00005

/** A row, and what the scanner said of it with a model and thresholds that know nothing of its source. */
export interface Judged {
  readonly row: CorpusRow
  readonly decision: SafetyDecision
  readonly byRules: SafetyDecision
}

/** Thresholds in units of learning, which hold for each set of weights. */
interface Thresholds {
  readonly flagAt: number
  readonly rejectAt: number
}

export interface Measured {
  readonly judged: readonly Judged[]
  /** From all sources: for the model that has learned from all of them. */
  readonly thresholds: Thresholds
}

/** Says after each source how far it is. */
export type Progress = (source: string, done: number, all: number) => void

/** What teaches, by its source. */
interface Lessons {
  readonly bySource: ReadonlyMap<string, readonly CorpusRow[]>
  readonly released: readonly string[]
}

/**
 * Leaves out each source in turn, and judges its rows by thresholds that know nothing of it: they come from the ordinary texts of
 * the other sources, each scored by a model that has learned neither from them nor, where it is one of attacks, from the source
 * that is judged. What was released teaches, and is never measured.
 */
export function leaveOneOut(
  rows: readonly CorpusRow[],
  progress: Progress,
  released: readonly string[] = [],
): Measured {
  const lessons = { bySource: Map.groupBy(rows, ({ source }) => source), released }
  const scores = ordinaryScores(lessons)
  const judged: Judged[] = []
  let done = 0
  for (const [source, left] of lessons.bySource) {
    const known = left.some((row) => row.attack && teaches(row))
      ? ordinaryScores(lessons, source)
      : scores.filter((score) => score.source !== source)
    judged.push(...judge(left, trainWithout(lessons, [source]), thresholdsOf(known)))
    progress(source, (done += 1), lessons.bySource.size)
  }
  return { judged, thresholds: thresholdsOf(scores) }
}

interface Score {
  readonly source: string
  /** In units of learning. */
  readonly score: number
}

/** Of each ordinary text by a model that has not learned from its source, nor from one more. */
function ordinaryScores(lessons: Lessons, without?: string): Score[] {
  return [...lessons.bySource].flatMap(([source, rows]) => {
    const ordinary = rows.filter(({ attack }) => !attack)
    if (source === without || ordinary.length === 0) return []
    const trained = trainWithout(lessons, without === undefined ? [source] : [source, without])
    return ordinary.map(({ text }) => ({ source, score: scoreOf(text, trained) }))
  })
}

function trainWithout({ bySource, released }: Lessons, sources: readonly string[]): Trained {
  const rest = [...bySource].filter(([source]) => !sources.includes(source))
  return trainOn(
    rest.flatMap(([, rows]) => rows),
    released,
  )
}

/** The weights learned from rows, from the examples that were written for it, and from ordinary texts that reviewers released. */
export function trainOn(rows: readonly CorpusRow[], released: readonly string[] = []): Trained {
  const examples = [
    ...rows.filter((row) => teaches(row)).map(exampleOf),
    ...writtenExamples().map(exampleOf),
    ...released.map((text) => exampleOf({ text, attack: false })),
  ]
  return trainModel(examples, WEIGHTS_COUNT)
}

export function modelOf({ weights, unit }: Trained, { flagAt, rejectAt }: Thresholds): Model {
  const scale = unit * ROOT_ONE
  return { weights, flagAt: Math.ceil(flagAt * scale), rejectAt: Math.ceil(rejectAt * scale) }
}

/** Hundreds of attacks in the same few phrases would teach those alone: rules know them, and when they are only quoted. */
const FROM_TEMPLATES = /^asb_/u

/** The text around an embedded attack is ordinary; and attacks in other languages would teach that those are attacks. */
function teaches({ form, attack, language, family }: CorpusRow): boolean {
  return form === 'plain' && (!attack || (language === 'en' && !FROM_TEMPLATES.test(family)))
}

function exampleOf(one: CorpusRow | WrittenExample): Example {
  const share = !one.attack ? ORDINARY_SHARE : 'weak' in one && one.weak ? WEAK_SHARE : 1
  return { grams: knownGramsOf(one.text), attack: one.attack, share }
}

const known = new Map<string, Grams>()

/** Each text is read once: it is learned from again and again. */
function knownGramsOf(text: string): Grams {
  const grams = known.get(text) ?? gramsOf(normalise(text).text)
  known.set(text, grams)
  return grams
}

function scoreOf(text: string, { weights, unit }: Trained): number {
  const score = heaviestWindow(knownGramsOf(text), weights)?.score ?? -Infinity
  return score / (unit * ROOT_ONE)
}

function thresholdsOf(known: readonly Score[]): Thresholds {
  const scores = known.map(({ score }) => score).toSorted((left, right) => right - left)
  const above = (share: number): number => scores[Math.floor(share * scores.length)] ?? Infinity
  return { flagAt: above(FLAGGED_SHARE), rejectAt: above(REJECTED_SHARE) }
}

const rulesAlone = createScanner({ model: null })

function judge(rows: readonly CorpusRow[], trained: Trained, thresholds: Thresholds): Judged[] {
  const scanner = createScanner({ model: modelOf(trained, thresholds) })
  return rows.map((row) => {
    const message = { currentState: { note: row.text } }
    const byRules = rulesAlone.scan(message).decision
    return { row, byRules, decision: scanner.scan(message).decision }
  })
}
