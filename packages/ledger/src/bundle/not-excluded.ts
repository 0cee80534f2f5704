// What a verdict leaves open, because the reader's policy or the bundle gave nothing to check it with.
import type { CheckId } from './checks.ts'
import type { BundleReport, ProvenEnd } from './report.ts'

const OPEN: Readonly<Partial<Record<CheckId, string>>> = {
  EXPORTER_SIGNATURE:
    'records of the task after the last one here (your policy names no exporter who vouches that these are all)',
  BATCH_SIGNATURE:
    'records that whoever seals made up (your policy names no append service that signs them as well)',
  WITNESS_QUORUM: 'a different history shown to others (your policy asks for no witness)',
  RECEIPT:
    'a record that the operational database was told of and that is missing here (the bundle holds no receipt)',
  DECISIONS:
    'decisions by others than the people who are said to have made them (your policy names nobody whose decisions count)',
}

/** Worse ones leave everything open. */
const JUDGED: ReadonlySet<BundleReport['verdict']> = new Set(['valid', 'incomplete', 'clock'])

interface Judged extends Pick<BundleReport, 'verdict' | 'checks' | 'end'> {
  /** What trust in a key of before leaves open. */
  readonly heir: string | undefined
}

/** Each is what could be so all the same, and why; nothing where the verdict is worse anyway. */
export function notExcluded({ verdict, checks, end, heir }: Judged): readonly string[] {
  if (!JUDGED.has(verdict)) return []
  const open = end === null ? OPEN : { ...OPEN, EXPORTER_SIGNATURE: laterThan(end) }
  const unchecked = checks.flatMap(({ id, result }) =>
    result === 'skipped' ? (open[id] ?? []) : [],
  )
  return heir === undefined ? unchecked : [heir, ...unchecked]
}

const laterThan = ({ until }: ProvenEnd): string =>
  `records of the task that came after ${until} (your policy names no exporter who vouches that these are all)`

/** Whether nobody vouches that the bundle holds the task's last records: neither a sealed map of tasks nor an exporter. */
export const isEndOpen = ({ checks, end }: Pick<BundleReport, 'checks' | 'end'>): boolean =>
  end === null &&
  checks.some(({ id, result }) => id === 'EXPORTER_SIGNATURE' && result === 'skipped')
