/* A worker like that of the server, with a job that it must not have. */
import { serveJobs } from '../../src/threads/serve-jobs.ts'
import { carelessJob } from './careless-job.ts'

serveJobs([carelessJob])
