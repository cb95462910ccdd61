export {
  type Admission,
  type AdmissionLimit,
  type Admitted,
  AGEING_MS,
  type Candidate,
  decideAdmission,
  type InFlight,
  rankOf,
} from './decide-admission.ts';
