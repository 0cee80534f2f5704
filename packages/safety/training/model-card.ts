// Writes down what the model has learned from, what it does on texts that it has not, and what it is not for.
import type { Model } from '../src/model/model.ts'
import type { CorpusRow } from './corpus.ts'
import { writtenExamples } from './examples.ts'
import { FLAGGED_SHARE, REJECTED_SHARE } from './leave-one-out.ts'
import type { Judged } from './leave-one-out.ts'
import { cellsOf, countClasses, countFamilies } from './table.ts'

interface Described {
  readonly model: Model
  /** SHA-256 (hex) of the weights. */
  readonly digest: string
  /** How many texts that reviewers released it has learned from. */
  readonly releasedCount: number
}

export function modelCard(
  rows: readonly CorpusRow[],
  judged: readonly Judged[],
  { model, digest, releasedCount }: Described,
): string {
  return `# The model of the scanner

Written by \`train-model.ts\`; do not edit.

A linear model: one weight of one byte for each of ${model.weights.length.toLocaleString('en')} hashed n-grams (one to three words, and five characters
within a word), summed over windows of 32, 64 and 128 words. The heaviest window of a text is its score. All sums are of whole
numbers, so that a score is the same on every machine. Weights: SHA-256 \`${digest}\`; flags from ${model.flagAt} on, rejects from ${model.rejectAt} on.

It is a second opinion. It flags, or rejects beside a rule, or rejects alone where it is surest; never in fields where orders are normal. Its
finding names the window and the five n-grams that weigh most in it.

## Learned from

Logistic regression over the heaviest window, AdaGrad, six rounds in an order of a fixed seed: the same rows give the same bytes. Besides
these rows it has learned from ${writtenExamples().length.toLocaleString('en')} examples that \`training/examples.ts\` writes, ordinary ones and attacks. Attacks in other languages than English, encoded ones and
ordinary texts around attacks taught it nothing; rows that hardly show an attack count a fifth, ordinary ones threefold.

${table(['source', 'licence', 'rows'], sourcesOf(rows))}
${releasedCount === 0 ? '' : releasedWords(releasedCount)}
## What it does on sources that it has not learned from

Each source was left out in turn, and the rows of that source judged by a model and thresholds made without it. The last two columns are the
rules alone. Thresholds are those from which on ${FLAGGED_SHARE * 100} % and ${REJECTED_SHARE * 100} % of the ordinary texts of the other sources score, each
by a model that has not learned from its source; nor, where attacks are judged, from theirs.

${table(HEADS, countClasses(judged).map(cellsOf))}

${table(HEADS, countFamilies(judged).map(cellsOf))}

## Limits

- It reads English, and letters of ASCII into which others are folded. It has no opinion on other scripts.
- It knows the wording of attacks and not what they want: orders without any sign of being one, and free paraphrase, pass.
- Role plays and prompts of agents read much like personas without limits. What it flags there is for a reviewer to tell.
- Who knows the weights can write around them. The rules stand beside it for that reason.
`
}

const releasedWords = (count: number): string => `
It has also learned, as ordinary texts, from ${count.toLocaleString('en')} that a model took for attacks and reviewers released. No figure below is of them.
`

const HEADS = ['', 'rows', 'rejected', 'or flagged', 'by rules', 'or flagged by rules']

function sourcesOf(rows: readonly CorpusRow[]): string[][] {
  const plain = rows.filter(({ form }) => form === 'plain')
  return [...Map.groupBy(plain, ({ source }) => source)].map(([source, of]) => [
    source,
    [...new Set(of.map(({ licence }) => licence))].join(', '),
    String(of.length),
  ])
}

function table(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
