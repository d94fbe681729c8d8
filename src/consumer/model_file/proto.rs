//! The few fields of the ONNX format that are read before ONNX Runtime is asked, by their numbers in
//! `onnx.proto3`. Everything else, weights above all, is skipped without being copied.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct ModelProto {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(string, tag = "2")]
    pub producer_name: String,
    #[prost(string, tag = "3")]
    pub producer_version: String,
    #[prost(string, tag = "4")]
    pub domain: String,
    #[prost(string, tag = "6")]
    pub doc_string: String,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
}

/// A function that the model brings along, called as an operator.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FunctionProto {
    #[prost(message, repeated, tag = "7")]
    pub node: Vec<NodeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSetIdProto {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StringStringEntryProto {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<SparseTensorProto>,
}

/// A tensor of few values that are not 0. Its name is that of its values.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SparseTensorProto {
    #[prost(message, optional, tag = "1")]
    pub values: Option<TensorProto>,
    #[prost(message, optional, tag = "2")]
    pub indices: Option<TensorProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfoProto {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// A type; other kinds than tensors are left out.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorTypeProto {
    /// See `TensorProto.DataType`.
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorShapeProto {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DimensionProto {
    /// Absent where the dimension is open.
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AttributeProto {
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    #[prost(message, optional, tag = "6")]
    pub g: Option<GraphProto>,
    #[prost(message, repeated, tag = "10")]
    pub tensors: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<GraphProto>,
    #[prost(message, optional, tag = "22")]
    pub sparse_tensor: Option<SparseTensorProto>,
    #[prost(message, repeated, tag = "23")]
    pub sparse_tensors: Vec<SparseTensorProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorProto {
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// [`DATA_LOCATION_EXTERNAL`], or 0 for data in the file itself.
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

/// `TensorProto.DataLocation.EXTERNAL`.
pub(super) const DATA_LOCATION_EXTERNAL: i32 = 1;

impl ModelProto {
    /// Calls `visit` with every tensor stored in the model: in its graph, in nested graphs, and in its
    /// functions.
    pub(super) fn for_each_tensor<'a>(&'a self, visit: &mut impl FnMut(&'a TensorProto)) {
        if let Some(graph) = &self.graph {
            graph.for_each_tensor(visit);
        }
        for node in self.functions.iter().flat_map(|function| &function.node) {
            node.for_each_tensor(visit);
        }
    }
}

impl GraphProto {
    fn for_each_tensor<'a>(&'a self, visit: &mut impl FnMut(&'a TensorProto)) {
        self.initializer.iter().for_each(&mut *visit);
        for sparse in &self.sparse_initializer {
            sparse.for_each_tensor(visit);
        }
        for node in &self.node {
            node.for_each_tensor(visit);
        }
    }

    /// Names of the tensors that the graph holds itself.
    pub(super) fn held(&self) -> impl Iterator<Item = &str> {
        let sparse = self.sparse_initializer.iter();
        let sparse = sparse.filter_map(|sparse| sparse.values.as_ref());
        self.initializer
            .iter()
            .chain(sparse)
            .map(|tensor| tensor.name.as_str())
    }
}

impl NodeProto {
    fn for_each_tensor<'a>(&'a self, visit: &mut impl FnMut(&'a TensorProto)) {
        for attribute in &self.attribute {
            attribute.t.iter().for_each(&mut *visit);
            attribute.tensors.iter().for_each(&mut *visit);
            for sparse in attribute
                .sparse_tensor
                .iter()
                .chain(&attribute.sparse_tensors)
            {
                sparse.for_each_tensor(visit);
            }
            // prost refuses nesting deeper than 100, which bounds this recursion.
            for graph in attribute.g.iter().chain(&attribute.graphs) {
                graph.for_each_tensor(visit);
            }
        }
    }
}

impl SparseTensorProto {
    fn for_each_tensor<'a>(&'a self, visit: &mut impl FnMut(&'a TensorProto)) {
        self.values.iter().chain(&self.indices).for_each(visit);
    }
}
