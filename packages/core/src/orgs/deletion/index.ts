export { exportConfiguration } from './deletion.ts'
export {
  deleteOrganization,
  DELETION_DAYS,
  findDeleted,
  listDeleted,
  scheduleDeletion,
} from './deletion.ts'
export type { Deletion } from './deletion.ts'
