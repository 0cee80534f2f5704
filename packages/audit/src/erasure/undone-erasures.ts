// Erasures that something undid: a restore brought payloads or keys back, and nobody has replayed them since.
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { findUnreflectedErasures } from './erasures.ts'
import type { SubjectVault } from '../append/subject-vault.ts'

/** Ids of erasures past their request of which a payload or a key is stored, sorted. As audit_reader. */
export async function findUndoneErasures(
  db: Database,
  vault: Pick<SubjectVault, 'keysOf'>,
): Promise<string[]> {
  const subjects = await run<{ subjectRef: string; id: string }>(
    db,
    'read_subjects_of_erasures',
    `select s.subject_ref as "subjectRef", s.erasure_id as id from audit.erased_subject s
     join audit.erasure e on e.id = s.erasure_id where e.state in ('ERASED', 'COMPLETED')`,
  )
  const keys = await vault.keysOf(new Set(subjects.map((one) => one.subjectRef)))
  const withKey = subjects.filter(({ subjectRef }) => keys.has(subjectRef)).map(({ id }) => id)
  return [...new Set([...withKey, ...(await findUnreflectedErasures(db))])].toSorted()
}
