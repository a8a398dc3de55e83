/** The parts of the gRPC library that connections to etcd and to key management services use. */
export {
  type ChannelCredentials,
  Client,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
