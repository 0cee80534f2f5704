// In which branch a handoff stands, as people read it: by the names of that branch and of those that it stands within.

export interface BranchPlace {
  readonly branchId: string
  /** `claims / north`: the outermost first. */
  readonly name: string
  /** Null while something of it goes on, or a person decides about it. */
  readonly outcome: string | null
}

/** The name of the branch of handoff `h`; null on the task’s own way. */
export const BRANCH_NAME = `(with recursive up as (
    select b.name, f.branch_id, 1 as depth from branch b join fan_out f on f.id = b.fan_out_id where b.id = h.branch_id
    union all
    select b.name, f.branch_id, up.depth + 1 from up join branch b on b.id = up.branch_id join fan_out f on f.id = b.fan_out_id
  ) select string_agg(up.name, ' / ' order by up.depth desc) from up)`

/** Where handoff `h` stands; null on the task’s own way. */
export const BRANCH_PLACE = `(select json_build_object('branchId', own.id, 'name', ${BRANCH_NAME}, 'outcome', own.outcome)
  from branch own where own.id = h.branch_id)`
