// The page in a bundle: verifies the bundle that it carries, or one that is given to it, and reports on it.
import { parseAuditorPolicy } from '../src/bundle/auditor-policy.ts'
import { FILES } from '../src/bundle/format.ts'
import { isEndOpen } from '../src/bundle/not-excluded.ts'
import type { BundleReport, ProvenEnd } from '../src/bundle/report.ts'
import { readTar } from '../src/bundle/tar.ts'
import { verifyBundle } from '../src/bundle/verify.ts'
import { encodeUtf8, fromBase64 } from '../src/bytes.ts'
import { definitions, find, make, marked, setTitle } from './page/dom.ts'
import type { PageElement } from './page/dom.ts'
import { overviewOf } from './page/overview.ts'
import { readShown } from './page/read.ts'
import type { BundleFiles } from './page/read.ts'
import {
  agentsElement,
  checksElement,
  costElement,
  peopleElement,
  recordsElement,
  storyItems,
  textElements,
} from './page/sections.ts'
import { instantWords, secondsWords } from './page/words.ts'

let bundle = new Uint8Array(0) as Uint8Array
let ownPolicy: Uint8Array | undefined

type Verdict = BundleReport['verdict'] | 'unproven'

function verdictOf(report: BundleReport): Verdict {
  const isProven = ownPolicy !== undefined || report.verdict !== 'valid'
  return isProven ? report.verdict : 'unproven'
}

function sentenceOf(verdict: Verdict, report: BundleReport): string {
  if (verdict !== 'valid') return SENTENCES[verdict]
  if (isEndOpen(report)) return VALID_BUT_FOR_ITS_END
  return report.end === null ? VALID : `${VALID} ${completeWords(report.end, report.taskId)}`
}

const completeWords = ({ until }: ProvenEnd, taskId: string | null): string =>
  `Complete until ${instantWords(until)}: nothing of ${taskId === null ? 'these tasks' : 'this task'} is missing.`

const VALID = 'This bundle is valid: nothing was changed, added or taken away.'
const VALID_BUT_FOR_ITS_END =
  'This bundle is valid as far as it goes: nothing that is here was changed or added, and nothing is missing between.'

const SENTENCES: Readonly<Record<Exclude<Verdict, 'valid'>, string>> = {
  unproven: 'Whole in itself. Give your own policy below to know who vouches for it.',
  tampered:
    'This bundle is tampered: something in it was changed, added or taken away. Rely on nothing below.',
  incomplete:
    'This bundle is incomplete: nothing is wrong, but not everything that is needed is there. See the checks.',
  clock:
    'A clock was wrong: nothing was changed, added or taken away, and the times below do not say when. See the checks.',
  'not-a-bundle': 'This file is no bundle of evidence.',
  unsupported: 'This bundle is unsupported: this page does not know its version.',
}

function showVerdict(report: BundleReport, now: number): void {
  const verdict = verdictOf(report)
  const banner = find('verdict')
  banner.dataset['kind'] = verdict
  banner.replaceChildren(
    make('strong', marked(verdict, verdict)),
    make('span', ` ${sentenceOf(verdict, report)}`),
  )
  const open = report.notExcluded.map((one) => make('li', one))
  find('open').hidden = open.length === 0
  find('not-excluded').replaceChildren(...open)
  find('source').textContent =
    ownPolicy === undefined ? 'the policy in the bundle, which proves nothing' : 'your policy'
  find('checked-at').textContent = secondsWords(now)
}

function showReport(files: BundleFiles, report: BundleReport): void {
  const records = readShown(files, report)
  const hasOwnPolicy = ownPolicy !== undefined
  const overview = overviewOf({ files, report, records, hasOwnPolicy })
  setTitle(overview.title)
  find('title').textContent = overview.title
  fill('subject', overview.subject === undefined ? [] : [make('span', overview.subject)])
  fill('facts', [definitions(overview.facts)])
  fill(
    'summary',
    overview.summary.map((sentence) => make('li', sentence)),
  )
  fill('story', storyItems(records))
  fill('people', [peopleElement(records)])
  fill('costs', [costElement(records)])
  fill('agents', [agentsElement(records)])
  fill('texts', textElements(records))
  fill('checks', [checksElement(report, hasOwnPolicy)])
  fill('trace', [recordsElement(records)])
}

const fill = (id: string, children: readonly PageElement[]): void =>
  find(id).replaceChildren(...children)

function show(): void {
  const files = new Map(readTar(bundle).files.map((file) => [file.name, file.bytes]))
  const policy = ownPolicy ?? files.get(FILES.policy) ?? encodeUtf8('quorum none\n')
  const parsed = parseAuditorPolicy(policy)
  if (!parsed.ok) {
    const why = `The policy cannot be read: line ${parsed.line}: ${parsed.message}`
    find('verdict').replaceChildren(make('span', why))
    return
  }
  const now = Math.floor(Date.now() / 1_000)
  const report = verifyBundle(bundle, { policy: parsed.policy, now, thorough: true })
  showVerdict(report, now)
  showReport(files, report)
}

const bytesOf = async (input: PageElement): Promise<Uint8Array | undefined> => {
  const file = input.files?.[0]
  return file && new Uint8Array(await file.arrayBuffer())
}

function listen(id: string, take: (bytes: Uint8Array) => void): void {
  const input = find(id)
  input.addEventListener('change', () => {
    void bytesOf(input).then((bytes) => {
      if (bytes === undefined) return
      take(bytes)
      show()
    })
  })
}

listen('bundle-file', (bytes) => (bundle = bytes))
listen('policy-file', (bytes) => (ownPolicy = bytes))
bundle = fromBase64((find('bundle').textContent ?? '').trim()) ?? new Uint8Array(0)
show()
