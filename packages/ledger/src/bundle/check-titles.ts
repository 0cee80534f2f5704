// The checks of a bundle in the order in which they are shown; ids are stable, titles are for people.

export const CHECK_TITLES = {
  CONTAINER: 'The container holds its files and not one byte more',
  MANIFEST_DIGEST: 'The manifest and its signature are the ones that were written',
  VERSION: 'The bundle is of a version that this verifier knows',
  MANIFEST: 'Every file is listed, and has the listed size and digest',
  EXPORTER_SIGNATURE: 'Who exported the bundle signed its manifest',
  RECORD_FORM: 'Every record can be read',
  RECORD_CANONICAL: 'Every record has the one form that its content may have',
  RECORD_ORDER: 'Records stand in the order of their chain, each once',
  RECORD_TASK: 'Every record belongs to the task',
  RECORD_HASH: 'Every record has the hash that the bundle lists for it',
  RECORD_LINK: 'Neighbouring records of a chain are linked',
  TASK_LINK: 'No record of the task is missing from its middle, and none is changed',
  INCLUSION: 'Every record stands in the sealed tree of its chain',
  CHAIN_CHECKPOINT: 'Checkpoints of the chains agree with the seal',
  SEAL_ENTRY: 'The seal can be read and lists the chains',
  SEAL_INCLUSION: 'The seal stands in the seal log',
  SEAL_SIGNATURE: 'A log of your policy signed the seal log',
  WITNESS_QUORUM: 'The witnesses of your policy saw the seal log',
  SEAL_TIME: 'Records, seal and witnesses agree on the time',
  BATCH_SIGNATURE: 'An append service of your policy recorded every record',
  RECEIPT: 'Every receipt has its record',
  ERASURE: 'Every erasure says exactly what it erased',
  PAYLOAD: 'Every text is what its record committed to, or is lawfully erased',
  TASK_END: 'Every accepted handoff has an end',
} as const

export type CheckId = keyof typeof CHECK_TITLES
